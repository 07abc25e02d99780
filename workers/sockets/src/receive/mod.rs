//! Receiving: from bound and connected sockets into whoever takes the messages.
//!
//! `loops` have a thread for each socket, `listener` accepts connections, `entrance` says who takes what comes by them;
//! `reception` takes messages from a socket by way of `framing` and `incoming`. Nothing here connects or publishes.

mod entrance;
mod framing;
mod incoming;
mod listener;
mod loops;
mod reception;

pub use incoming::Incoming;

pub(crate) use entrance::{Entrance, Taker};
pub(crate) use listener::Listener;
pub(crate) use loops::{Loops, ReceiveLoop};
pub(crate) use reception::Reception;
