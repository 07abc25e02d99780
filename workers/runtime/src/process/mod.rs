//! What a worker has as a process: its pipes, its one inbox, its place on the CPUs, and what the kernel says of it.
//!
//! It knows no message and no middleware; `life` brings it all together.

pub(crate) mod closing;
pub(crate) mod inbox;
pub(crate) mod path;
pub(crate) mod placement;
pub mod system_package;
pub(crate) mod udp_buffers;
pub(crate) mod usage;
pub mod user;
pub(crate) mod wire;
