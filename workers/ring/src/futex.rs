//! The two system calls behind every wait: sleep while a word has a value, and wake all who sleep on it.
//!
//! Words may lie in memory shared between processes; why anyone waits is `position`'s business.

#[cfg(not(feature = "loom"))]
use std::{sync::atomic::AtomicU32, time::Duration};

#[cfg(feature = "loom")]
pub(crate) use modelled::{wait, wake_all};

/// Sleeps while `word` is `value`, at most for `timeout`; may return earlier for no reason.
#[cfg(not(feature = "loom"))]
pub(crate) fn wait(word: &AtomicU32, value: u32, timeout: Option<Duration>) {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(timeout.subsec_nanos() as i32),
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref::<libc::timespec>);
    // SAFETY: `word` and `timeout` (or null) live across the call; the kernel only reads them.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, timeout) };
}

/// Wakes all who sleep on `word`, in any process.
#[cold]
#[cfg(not(feature = "loom"))]
pub(crate) fn wake_all(word: &AtomicU32) {
    // SAFETY: the kernel only takes the address.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// As the kernel does it: it compares and goes to sleep under a lock that who wakes takes too. No time passes in a model,
/// so that a wake-up that is lost is a wait without end, which loom reports.
#[cfg(feature = "loom")]
mod modelled {
    use std::time::Duration;

    use loom::sync::atomic::{AtomicU32, Ordering};
    use loom::sync::{Condvar, Mutex};

    loom::lazy_static! {
        static ref SLEEPERS: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
    }

    pub(crate) fn wait(word: &AtomicU32, value: u32, _timeout: Option<Duration>) {
        let (lock, sleepers) = &*SLEEPERS;
        let guard = lock.lock().unwrap();
        if word.load(Ordering::SeqCst) == value {
            drop(sleepers.wait(guard).unwrap());
        }
    }

    pub(crate) fn wake_all(_word: &AtomicU32) {
        let (lock, sleepers) = &*SLEEPERS;
        let _guard = lock.lock().unwrap();
        sleepers.notify_all();
    }
}
