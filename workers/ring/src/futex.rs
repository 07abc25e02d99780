//! The two system calls behind every wait: sleep while a word has a value, and wake all who sleep on it.
//!
//! Words may lie in memory shared between processes; why anyone waits is `position`'s business.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while `word` is `value`, at most for `timeout`; may return earlier for no reason.
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
pub(crate) fn wake_all(word: &AtomicU32) {
    // SAFETY: the kernel only takes the address.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}
