//! What one machine is, whatever its links: what its clocks say, and how far apart two of its CPUs are.

pub(crate) mod clock;
pub(crate) mod distance;
