//! The bounded end that every worker comes to.
//!
//! It closes nothing itself: it ends the process where closing does not come to an end.

use std::io::Write;
use std::thread;

use crate::clock;

/// How long closing may take before the process ends without it.
const PATIENCE_NS: i64 = 5_000_000_000;

/// Ends the process, whatever hangs, when it has not ended by itself after the patience for closing; what the front should
/// know before is said then.
///
/// A middleware's shutdown may wait for a peer that is gone; the front must never have to wait for that.
pub(crate) fn end_at_last(why: &'static str, say_last: impl FnOnce() + Send + 'static) {
    thread::spawn(move || {
        clock::sleep_until(clock::now_ns() + PATIENCE_NS);
        say_last();
        let _ = writeln!(
            std::io::stderr(),
            "{why}; not closed after {} s, ending without",
            PATIENCE_NS / 1_000_000_000
        );
        // SAFETY: ends the process at once and runs nothing that could hang.
        unsafe { libc::_exit(1) };
    });
}
