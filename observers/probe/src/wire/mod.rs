//! What goes between the two probes: datagrams, requests, and their socket.
//!
//! It measures nothing; `client` and `answer` hold the conversation.

pub(crate) mod checksums;
pub(crate) mod datagram;
pub(crate) mod message;
pub(crate) mod socket;
