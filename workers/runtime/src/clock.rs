//! The one clock: the front's `CLOCK_MONOTONIC`, in nanoseconds; on another machine that machine's own, read through the
//! vDSO, less the offset between the two.
//!
//! It stamps and it waits until an absolute instant; it knows nothing of schedules (`schedule`).

use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// This machine's clock minus the front's.
static OFFSET_NS: AtomicI64 = AtomicI64::new(0);

/// Sets by how much this machine's clock is ahead of the front's; from then on all instants are those of the front's clock.
pub fn follow_front(offset_ns: i64) {
    OFFSET_NS.store(offset_ns, Relaxed);
}

/// The time now.
#[must_use]
#[inline]
pub fn now_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; CLOCK_MONOTONIC always exists on Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec - OFFSET_NS.load(Relaxed)
}

/// Sleeps until an absolute instant; returns at once when it has passed.
pub fn sleep_until(instant_ns: i64) {
    let instant_here_ns = (instant_ns + OFFSET_NS.load(Relaxed)).max(0);
    let time = libc::timespec {
        tv_sec: instant_here_ns / 1_000_000_000,
        tv_nsec: instant_here_ns % 1_000_000_000,
    };
    loop {
        // SAFETY: `time` is a valid timespec and no remainder is requested.
        let status = unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &raw const time,
                std::ptr::null_mut(),
            )
        };
        if status != libc::EINTR {
            return;
        }
    }
}

/// Sleeps until `spin_ns` before an absolute instant, then spins until it.
#[inline]
pub fn wait_until(instant_ns: i64, spin_ns: i64) {
    if now_ns() < instant_ns - spin_ns {
        sleep_until(instant_ns - spin_ns);
    }
    if spin_ns > 0 {
        while now_ns() < instant_ns {
            std::hint::spin_loop();
        }
    }
}

/// What one reading costs, in nanoseconds: the fastest of several batches.
#[must_use]
pub fn cost_ns() -> f64 {
    const READINGS: u32 = 1000;
    (0..10)
        .map(|_| {
            let begin_ns = now_ns();
            for _ in 0..READINGS {
                black_box(now_ns());
            }
            (now_ns() - begin_ns) as f64 / f64::from(READINGS + 1)
        })
        .fold(f64::INFINITY, f64::min)
}
