//! The machine's network interfaces: what each is, and how frames come in and go out.
//!
//! It decides nothing about a frame; `link` does.

pub(crate) mod interface;
pub(crate) mod port;
