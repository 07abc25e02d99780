//! What reaches the main thread of an application while it lives.
//!
//! One inbox for commands and for the worker's own threads, so that there is one place to wait and no polling.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use middlemark_contract::{ApplicationCommand, FirstMatch, PublisherCounts};

use crate::clock;
use crate::process::wire::Line;
use crate::receive::flow::First;

/// What the main thread waits for.
#[derive(Debug)]
pub(crate) enum Note {
    /// A line of standard input.
    Line(Line<ApplicationCommand>),
    /// A publisher has found a subscriber.
    Matched(FirstMatch),
    /// The first message of a publisher has come, or the first answer of a subscriber; of its full size or of any.
    First {
        kind: First,
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

/// Where notes go: the end of the inbox that every thread of the worker holds.
pub(crate) type Notes = Sender<Note>;

/// Waits for a note until an instant; none when it has passed.
pub(crate) fn wait_until(inbox: &Receiver<Note>, instant_ns: i64) -> Option<Note> {
    let left_ns = (instant_ns - clock::now_ns()).max(0);
    match inbox.recv_timeout(Duration::from_nanos(left_ns as u64)) {
        Ok(note) => Some(note),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => unreachable!("the application keeps a sender of its own inbox"),
    }
}
