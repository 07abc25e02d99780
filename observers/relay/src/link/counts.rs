//! What happened to the frames of one direction.
//!
//! Every frame is in exactly one account: in + duplicated = out + lost + dropped + refused + in flight.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Frames, and the bytes that they hold without frame check sequence.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Counts {
    pub(crate) frames_in: u64,
    pub(crate) bytes_in: u64,
    pub(crate) frames_out: u64,
    pub(crate) bytes_out: u64,
    /// Dropped by the requested loss.
    pub(crate) dropped_by_loss: u64,
    /// Found the serialiser's queue full.
    pub(crate) dropped_by_queue: u64,
    /// Found no room among `frames_in_flight`.
    pub(crate) dropped_by_memory: u64,
    /// Longer than the interfaces' largest frame: an offload joined several.
    pub(crate) dropped_too_long: u64,
    /// Not taken by the interface they should have left by (down, or its buffer full).
    pub(crate) refused_by_interface: u64,
    /// Sent again behind themselves.
    pub(crate) duplicated: u64,
    /// Released before a frame that had come earlier.
    pub(crate) reordered: u64,
    /// Sent on with other bytes than they came with.
    pub(crate) corrupted: u64,
    /// Came with a checksum left to hardware that isn't there: the receiver will discard them.
    pub(crate) unfinished_checksums: u64,
}

/// By how much frames left later than they were due, because the relay woke or worked too slowly.
#[derive(Debug, Serialize)]
pub(crate) struct Lateness {
    pub(crate) n: u64,
    pub(crate) p50_ns: u64,
    pub(crate) p99_ns: u64,
    pub(crate) p999_ns: u64,
    pub(crate) max_ns: u64,
}

impl Lateness {
    pub(crate) fn of(histogram: &Histogram<u64>) -> Self {
        Self {
            n: histogram.len(),
            p50_ns: histogram.value_at_quantile(0.5),
            p99_ns: histogram.value_at_quantile(0.99),
            p999_ns: histogram.value_at_quantile(0.999),
            max_ns: histogram.max(),
        }
    }
}
