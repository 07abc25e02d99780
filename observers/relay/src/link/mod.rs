//! What a link does to the frames of one direction, and when each comes out again.
//!
//! Nothing here reads a clock or touches a socket; `relay` brings the instants, `network` the frames.

pub(crate) mod chance;
pub(crate) mod counts;
pub(crate) mod fate;
pub(crate) mod impairment;
pub(crate) mod path;
pub(crate) mod pool;
pub(crate) mod schedule;
pub(crate) mod serialiser;
pub(crate) mod trace;
