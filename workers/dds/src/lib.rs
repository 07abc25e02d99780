//! What the workers of DDS implementations share: the neutral QoS as policies, whom discovery has to find, and how the
//! messages of a reader are taken.
//!
//! It links no implementation: each worker reaches its own through a shim in C, which has what `shim/dds.h` declares.

mod delivery;
pub mod exchange;
mod matched;
mod peers;
#[cfg(any(test, feature = "test"))]
mod ping_pong;
mod policies;
mod reader;
#[cfg(feature = "security")]
pub mod security;
mod shim;

pub use delivery::{deliveries, how, refuse_library_thread};
pub use matched::Matches;
pub use peers::Peers;
#[cfg(feature = "test")]
pub use ping_pong::ping_pong;
pub use policies::{Policies, accept};
pub use reader::{IsValid, OnLent, OnMessage, Reader, Taker, hand_over_lent};
pub use shim::{Reason, ShimError, ShimReader, checked, opened, read_back, version};
