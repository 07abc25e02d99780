//! The sample memory of one endpoint: reserved and touched before the middleware exists, filled without a lock.
//!
//! It allocates nothing, blocks on nothing and writes no file while messages come; `files` writes it out afterwards.
//! What comes after it is full goes into a histogram of fixed size (`overflow`), so that nothing is lost uncounted.

pub(crate) mod files;
mod overflow;
pub(crate) mod sync;

pub(crate) use overflow::Overflow;

use sync::UnsafeCell;
use sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A fixed number of places for samples.
#[derive(Debug)]
pub(crate) struct Recorder<T> {
    places: Box<[UnsafeCell<T>]>,
    taken: AtomicUsize,
}

// SAFETY: `record` gives each place to exactly one caller (`taken` never falls below the number of places given), and
// `samples` is only called where their writing happens before.
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
                cell.with_mut(|place| unsafe { *place = sample });
                true
            }
            None => false,
        }
    }

    /// Ends recording: from now on [`Self::record`] keeps nothing. Returns how many samples there are.
    ///
    /// Relaxed here and in [`Self::record`], as it orders nothing: whoever reads the samples has learned elsewhere (from a
    /// closed flow, from a publisher's counts) that they are written.
    pub(crate) fn seal(&self) -> usize {
        self.taken.swap(self.places.len(), Relaxed).min(self.places.len())
    }

    /// The first `count` samples, in the order of the calls.
    ///
    /// # Safety
    /// [`Self::seal`] gave `count`, and every call of [`Self::record`] that began before it happens before this one.
    pub(crate) unsafe fn samples(&self, count: usize) -> impl Iterator<Item = T> + '_ {
        // SAFETY: nobody writes to these places any more, as the caller promises.
        self.places[..count]
            .iter()
            .map(|cell| cell.with(|place| unsafe { *place }))
    }
}

#[cfg(all(test, not(feature = "loom")))]
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
}
