//! The sample memory of one endpoint: reserved and touched before the middleware exists, filled without a lock.
//!
//! It allocates nothing, blocks on nothing and writes no file while messages come; `files` writes it out afterwards.
//! What comes after it is full goes into a histogram of fixed size, so that nothing is lost without being counted.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// A fixed number of places for samples.
#[derive(Debug)]
pub(crate) struct Recorder<T> {
    places: Box<[UnsafeCell<T>]>,
    taken: AtomicUsize,
}

// SAFETY: `record` gives each place to exactly one caller (`taken` never falls below the number of places given), and
// `samples` is only called when their writers are done.
unsafe impl<T: Send> Sync for Recorder<T> {}

impl<T: Copy> Recorder<T> {
    /// Places for `capacity` samples, all of them written once so that no page fault is left for the window.
    pub(crate) fn new(capacity: usize, blank: T) -> Recorder<T> {
        Recorder {
            places: (0..capacity).map(|_| UnsafeCell::new(blank)).collect(),
            taken: AtomicUsize::new(0),
        }
    }

    /// Keeps a sample; false when the memory is full.
    #[inline]
    pub(crate) fn record(&self, sample: T) -> bool {
        let place = self.taken.fetch_add(1, Relaxed);
        match self.places.get(place) {
            Some(cell) => {
                // SAFETY: no other call gets this place, see above.
                unsafe { *cell.get() = sample };
                true
            }
            None => false,
        }
    }

    /// Ends recording: from now on [`Self::record`] keeps nothing. Returns how many samples there are.
    pub(crate) fn seal(&self) -> usize {
        self.taken.swap(self.places.len(), Relaxed).min(self.places.len())
    }

    /// The first `count` samples, in the order of the calls.
    ///
    /// # Safety
    /// [`Self::seal`] gave `count`, and every call of [`Self::record`] that began before it has returned.
    pub(crate) unsafe fn samples(&self, count: usize) -> impl Iterator<Item = T> + '_ {
        // SAFETY: nobody writes to these places any more, as the caller promises.
        self.places[..count].iter().map(|cell| unsafe { *cell.get() })
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_beyond_the_memory_are_refused_and_the_others_kept_in_order() {
        let recorder = Recorder::new(2, 0);
        assert_eq!(
            [recorder.record(7), recorder.record(8), recorder.record(9)],
            [true, true, false]
        );
        let count = recorder.seal();
        assert!(!recorder.record(10));
        // SAFETY: sealed, and no other thread records.
        assert_eq!(unsafe { recorder.samples(count) }.collect::<Vec<_>>(), [7, 8]);
    }

    #[test]
    fn a_bucket_holds_its_values_within_one_part_in_64() {
        for value in (0..2000).chain((6..62).map(|bits| (1 << bits) + 12345 % (1 << bits))) {
            let error = middle(bucket(value)).abs_diff(value);
            assert!(error * 64 <= value.max(64), "{value} is {error} off");
        }
        assert!(bucket(u64::MAX) < 64 << SUB_BUCKET_BITS);
    }
}
