//! The send side: from a schedule to the middleware's publish call.
//!
//! It knows no middleware beyond the traits in `publish`, and writes no file; `recorder` keeps what it did.

pub(crate) mod answer;
pub(crate) mod client;
#[cfg(test)]
pub(crate) mod fake_publishers;
pub(crate) mod gate;
pub(crate) mod matched;
mod pages;
pub(crate) mod publish;
pub(crate) mod publisher_thread;
pub(crate) mod schedule;
pub(crate) mod sender;
pub(crate) mod stamping_publisher;
