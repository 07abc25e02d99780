//! What the workers of DDS implementations share: the neutral QoS as policies, the type of messages, whom discovery has to find,
//! and how the messages of a reader are taken.
//!
//! It links no implementation: a worker reaches its own through a shim in C, which has what `shim/dds.h` declares, or in Rust.

mod counterparts;
mod delivery;
pub mod exchange;
mod inbox;
mod peers;
mod policies;
mod protocol;
mod reader;
#[cfg(feature = "security")]
pub mod security;
mod session;
mod shim;

pub use counterparts::{Counterparts, Matches};
#[cfg(feature = "test")]
pub use delivery::ping_pong::ping_pong;
pub use delivery::{deliveries, how, refuse_library_thread};
pub use inbox::{Inbox, Sleeper, Woken, deliver};
pub use peers::Peers;
pub use policies::{Policies, accept};
pub use protocol::{protocol, sequence_type};
#[cfg(feature = "wait_set")]
pub use reader::wait_set::{self, WaitSet};
pub use reader::{IsValid, OnLent, OnMessage, Reader, Taker, hand_over_lent};
pub use session::{DdsSession, Participant};
#[cfg(feature = "wait_set")]
pub use shim::ShimWaitSet;
pub use shim::{Reason, ShimError, ShimReader, checked, opened, read_back, version};
