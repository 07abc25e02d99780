//! What reaches the main thread of an application while it lives, and the bounded end that every worker comes to.
//!
//! One inbox for commands and for the worker's own threads, so that there is one place to wait and no polling.

use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use middlemark_contract::{ApplicationCommand, PublisherCounts};

use crate::clock;
use crate::wire::Line;

/// How long closing may take before the process ends without it.
const PATIENCE_NS: i64 = 5_000_000_000;

/// What the main thread waits for.
#[derive(Debug)]
pub(crate) enum Note {
    /// A line of standard input.
    Line(Line<ApplicationCommand>),
    /// The first message of a publisher has come, or the first answer of a subscriber.
    First {
        stream: String,
        answers: bool,
        publisher: u16,
        subscriber: u16,
        received_ns: i64,
    },
    /// A publisher is done with the window; none where no window came.
    Finished(Option<PublisherCounts>),
    /// A flow has all that the drain waits for.
    Complete,
}

/// Waits for a note until an instant; none when it has passed.
pub(crate) fn wait_until(inbox: &Receiver<Note>, instant_ns: i64) -> Option<Note> {
    let left_ns = (instant_ns - clock::now_ns()).max(0);
    match inbox.recv_timeout(Duration::from_nanos(left_ns as u64)) {
        Ok(note) => Some(note),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => unreachable!("the application keeps a sender of its own inbox"),
    }
}

/// Ends the process, whatever hangs, when it has not ended by itself after the patience for closing.
///
/// A middleware's shutdown may wait for a peer that is gone; the front must never have to wait for that.
pub(crate) fn end_at_last(why: &'static str) {
    thread::spawn(move || {
        clock::sleep_until(clock::now_ns() + PATIENCE_NS);
        let _ = writeln!(
            std::io::stderr(),
            "{why}; not closed after {} s, ending without",
            PATIENCE_NS / 1_000_000_000
        );
        // SAFETY: ends the process at once and runs nothing that could hang.
        unsafe { libc::_exit(1) };
    });
}
