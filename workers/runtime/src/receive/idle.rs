//! What a polling thread does between two looks that find nothing; the same for every middleware.
//!
//! It never sleeps. Now and then it gives way to who else could run: without that, pollers keep each other, the publisher
//! and the middleware's own threads off the CPUs where there are few.

use std::hint;
use std::thread;

/// So many looks go by without giving way: a system call for each would be a part of every latency.
const LOOKS: u32 = 64;

/// The pause between looks.
#[derive(Debug, Default)]
pub struct Idle {
    looks: u32,
}

impl Idle {
    /// To be called after a look that found nothing.
    #[inline]
    pub fn pass(&mut self) {
        self.looks = (self.looks + 1) % LOOKS;
        if self.looks == 0 {
            thread::yield_now();
        } else {
            hint::spin_loop();
        }
    }
}
