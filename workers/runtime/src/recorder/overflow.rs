//! Latencies of the messages beyond the sample memory: a histogram of fixed size that any thread may record into.
//!
//! It keeps no order and no message; `files` writes it out.

use crate::recorder::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Latencies of the messages beyond the sample memory, in logarithmic buckets of 1/64 (under 1.6 % wide).
///
/// `HdrHistogram` itself can't be recorded into by several threads without a lock; this one is read into one afterwards.
#[derive(Debug)]
pub(crate) struct Overflow(Box<[AtomicU64]>);

const SUB_BUCKET_BITS: u32 = 6;

impl Overflow {
    pub(crate) fn new() -> Overflow {
        Overflow((0..64 << SUB_BUCKET_BITS).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline]
    pub(crate) fn record(&self, latency_ns: i64) {
        self.0[bucket(latency_ns.max(0) as u64)].fetch_add(1, Relaxed);
    }

    /// Each bucket that holds something: the middle of its range, and how many latencies fell into it.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0
            .iter()
            .enumerate()
            .map(|(bucket, count)| (middle(bucket), count.load(Relaxed)))
            .filter(|(_, count)| *count > 0)
    }
}

#[inline]
fn bucket(value: u64) -> usize {
    let exponent = (64 - value.leading_zeros()).saturating_sub(SUB_BUCKET_BITS + 1);
    ((u64::from(exponent) << SUB_BUCKET_BITS) + (value >> exponent)) as usize
}

fn middle(bucket: usize) -> u64 {
    let exponent = (bucket >> SUB_BUCKET_BITS).saturating_sub(1);
    let mantissa = bucket - (exponent << SUB_BUCKET_BITS);
    ((mantissa as u64) << exponent) + ((1 << exponent) >> 1)
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_its_values_within_one_part_in_64() {
        for value in (0..2000).chain((6..62).map(|bits| (1 << bits) + 12345 % (1 << bits))) {
            let error = middle(bucket(value)).abs_diff(value);
            assert!(error * 64 <= value.max(64), "{value} is {error} off");
        }
        assert!(bucket(u64::MAX) < 64 << SUB_BUCKET_BITS);
    }
}
