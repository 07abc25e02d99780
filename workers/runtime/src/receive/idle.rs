//! What a polling thread does between two looks; the same for every middleware.
//!
//! It never sleeps. Where looks find nothing it gives way now and then to who else could run: without that, pollers keep
//! each other, the publisher and the middleware's own threads off the CPUs where there are few.

use std::hint;
use std::thread;

/// So many looks in vain go by without giving way: a system call for each would be a part of every latency.
const LOOKS: u32 = 64;

/// The pause between looks.
#[derive(Debug, Default)]
pub struct Idle {
    /// In vain, since one found something or this thread gave way.
    looks: u32,
}

impl Idle {
    /// To be called after each look. What comes sooner than after so many looks meets no thread that is giving way.
    #[inline]
    pub fn after_look(&mut self, has_found: bool) {
        if self.is_to_give_way(has_found) {
            thread::yield_now();
        } else if !has_found {
            hint::spin_loop();
        }
    }

    #[inline]
    fn is_to_give_way(&mut self, has_found: bool) -> bool {
        self.looks = if has_found { 0 } else { (self.looks + 1) % LOOKS };
        self.looks == 0 && !has_found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many looks in vain go by until it gives way.
    fn looks(idle: &mut Idle) -> Option<u32> {
        (1..=10 * LOOKS).find(|_| idle.is_to_give_way(false))
    }

    #[test]
    fn who_finds_nothing_gives_way_again_and_again() {
        let mut idle = Idle::default();
        assert_eq!([looks(&mut idle), looks(&mut idle)], [Some(LOOKS); 2]);
    }

    #[test]
    fn who_has_just_found_something_does_not_give_way() {
        let mut idle = Idle::default();
        for _ in 1..LOOKS {
            idle.is_to_give_way(false);
        }
        assert!(!idle.is_to_give_way(true));
        assert_eq!(looks(&mut idle), Some(LOOKS));
    }
}
