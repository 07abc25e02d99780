//! The nodes between streams: what waits at their inputs, when they run, what they send and what is noted of it.
//!
//! A node publishes through `send`; `receive` hands it its messages, and `life` starts it.

pub(crate) mod compute;
pub(crate) mod input_queue;
pub(crate) mod journal;
pub(crate) mod output_sender;
pub(crate) mod thread;
