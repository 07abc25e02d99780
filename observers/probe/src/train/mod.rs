//! Trains of numbered datagrams: how they are sent, and what is told of those that come.
//!
//! It holds no socket and judges no link; `measure` and `answer` lead the trains.

pub(crate) mod arrivals;
pub(crate) mod departures;
pub(crate) mod pace;
