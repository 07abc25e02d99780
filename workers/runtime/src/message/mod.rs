//! What a message is: the channel that it goes over, its header, and the bytes behind it.
//!
//! Nothing here sends or receives; `send` and `receive` do.

pub(crate) mod channel;
pub(crate) mod exchange;
pub(crate) mod header;
pub(crate) mod payload;
pub(crate) mod ports;
pub(crate) mod typed;
