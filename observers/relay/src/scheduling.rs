//! How this process is woken: precisely, and before others where requested.

use std::io;

use crate::error::RelayError;

/// Takes away the 50 µs by which the kernel may put off an ordinary process's timers.
pub(crate) fn wake_precisely() {
    // SAFETY: PR_SET_TIMERSLACK takes one integer; it can only fail for other options.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

/// Puts this process into the real-time class `SCHED_FIFO`.
pub(crate) fn first_in_first_out(priority: i32) -> Result<(), RelayError> {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: `parameters` is valid for the call; 0 is this thread.
    let status =
        unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters) };
    if status == 0 {
        return Ok(());
    }
    Err(RelayError::Priority {
        priority,
        source: io::Error::last_os_error(),
    })
}
