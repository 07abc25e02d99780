//! What the relay says: single lines of JSON on standard output, and nothing else goes there.

use std::io::Write;

use serde::Serialize;

use crate::error::RelayError;
use crate::link::counts::{Counts, Lateness};

/// An event, one line of JSON.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// Frames are forwarded from now on.
    Ready {
        generator: &'static str,
        wire_overhead_bytes: usize,
        largest_frame_bytes: usize,
        warnings: Vec<String>,
    },
    /// A command took effect.
    Applied { at_ns: i64 },
    /// A command can't be meant and changed nothing.
    Refused { reason: String },
    /// The counts so far.
    Report(Summary),
    /// The counts at the end; the last event.
    Done(Summary),
}

/// Both directions' accounts.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    pub(crate) at_ns: i64,
    pub(crate) outgoing: Account,
    pub(crate) incoming: Account,
}

/// One direction's account.
#[derive(Debug, Serialize)]
pub(crate) struct Account {
    #[serde(flatten)]
    pub(crate) counts: Counts,
    /// Still held by the relay.
    pub(crate) in_flight: u64,
    /// Lost before the relay saw them, because it was too slow; they are in no other count.
    pub(crate) dropped_by_kernel: u64,
    pub(crate) lateness: Lateness,
}

pub(crate) fn print(event: &Event) -> Result<(), RelayError> {
    let line = serde_json::to_string(event).expect("an event is made of numbers and words");
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")
        .and_then(|()| output.flush())
        .map_err(RelayError::Front)
}
