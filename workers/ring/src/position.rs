//! A position in the ring that its owner advances and that others can wait on, in one word of shared memory.
//!
//! ```text
//! 31 bits  count of slots passed, modulo 2^31
//!  1 bit   someone sleeps until this changes
//! ```
//!
//! The bit belongs to one count: advancing replaces both at once and so learns, without a further read and without a
//! race, whether it must wake anyone. A sleeper that is killed costs at most one needless wake-up.

use std::time::Duration;

use crate::futex;
use crate::sync::atomic::{AtomicU32, Ordering};

const SLEEPER: u32 = 1;

/// A count of slots, modulo 2^31.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count(u32);

impl Count {
    #[inline]
    pub(crate) fn next(self) -> Count {
        Count(self.0.wrapping_add(1) & (u32::MAX >> 1))
    }

    /// Anything that another process may have left there.
    #[cfg(all(test, not(feature = "loom")))]
    pub(crate) fn at(count: u32) -> Count {
        Count(count & (u32::MAX >> 1))
    }

    /// How many slots `self` is ahead of `other`.
    #[inline]
    pub(crate) fn ahead_of(self, other: Count) -> u32 {
        self.0.wrapping_sub(other.0) & (u32::MAX >> 1)
    }

    #[inline]
    pub(crate) fn modulo(self, power_of_two: u32) -> usize {
        (self.0 & (power_of_two - 1)) as usize
    }
}

/// See the module. All zero is a valid position, at the beginning.
#[repr(transparent)]
#[derive(Debug, Default)]
pub(crate) struct Position(AtomicU32);

impl Position {
    /// Where it is; what its owner wrote before advancing to here can be read after.
    #[inline]
    pub(crate) fn get(&self) -> Count {
        Count(self.0.load(Ordering::SeqCst) >> 1)
    }

    /// Moves it, and wakes whoever waits for that. Only its owner may.
    #[inline]
    pub(crate) fn set(&self, count: Count) {
        if self.0.swap(count.0 << 1, Ordering::SeqCst) & SLEEPER != 0 {
            futex::wake_all(&self.0);
        }
    }

    /// Sleeps while it is at `count`, unless `gives_up` once the sleep is announced; may return for no reason.
    pub(crate) fn wait(&self, count: Count, timeout: Option<Duration>, gives_up: impl FnOnce() -> bool) {
        let (awake, asleep) = (count.0 << 1, count.0 << 1 | SLEEPER);
        let announced = self
            .0
            .compare_exchange(awake, asleep, Ordering::SeqCst, Ordering::SeqCst);
        if announced.is_ok() || announced == Err(asleep) {
            if gives_up() {
                return;
            }
            futex::wait(&self.0, asleep, timeout);
        }
    }

    /// Wakes all who wait without moving it, so that they look again at what else they wait for.
    pub(crate) fn nudge(&self) {
        if self.0.fetch_and(!SLEEPER, Ordering::SeqCst) & SLEEPER != 0 {
            futex::wake_all(&self.0);
        }
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn counts_go_on_over_their_end() {
        let last = Count(u32::MAX >> 1);
        assert_eq!((last.next(), last.next().ahead_of(last)), (Count(0), 1));
        assert_eq!((last.modulo(8), last.next().modulo(8)), (7, 0));
        let position = Position::default();
        position.set(last);
        assert_eq!(position.get(), last);
        position.set(last.next());
        assert_eq!(position.get(), Count(0));
    }

    #[test]
    fn a_wait_ends_when_the_position_moves_and_when_it_is_nudged() {
        let position = Position::default();
        let begin = position.get();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while position.get() == begin {
                        position.wait(begin, None, || false);
                    }
                });
            }
            for _ in 0..1000 {
                position.nudge();
            }
            position.set(begin.next());
        });
        position.wait(begin, None, || unreachable!("it has already moved"));
        position.wait(begin.next(), None, || true);
    }
}
