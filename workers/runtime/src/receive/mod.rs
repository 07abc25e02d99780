//! The receive side: from the middleware's hand-over of a message to its sample.
//!
//! It keeps no schedule and sends nothing but a ping-pong's answers, through `send`; `node` runs on what it passes on.

pub(crate) mod flow;
pub(crate) mod idle;
pub(crate) mod pieces;
pub(crate) mod receiver;
