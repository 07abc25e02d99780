//! What the workers of DDS implementations share: the neutral QoS as policies, whom discovery has to find, and how the
//! messages of a reader are taken.
//!
//! It links no implementation: each worker reaches its own through a shim in C ([`ReaderHandle`]).

mod peers;
mod policies;
mod reader;
mod receive_mode;

pub use peers::Peers;
pub use policies::Policies;
pub use reader::{OnMessage, Reader, ReaderHandle};
pub use receive_mode::{ReceiveMode, refuse_listener};
