//! What the front says and is told: the spec, commands, events, as lines of JSON.
//!
//! It forwards no frame; `relay` obeys and reports.

pub(crate) mod command;
pub(crate) mod event;
pub(crate) mod spec;
