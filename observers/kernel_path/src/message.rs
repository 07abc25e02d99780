//! What the observer says: single lines of JSON on standard output, and nothing else goes there.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use crate::error::ObserverError;

/// A message, one line of JSON.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Message {
    /// Everything that the followed processes do is recorded from now on.
    Ready { processes: Vec<u32> },
    /// These are followed too.
    Following { processes: Vec<u32> },
    /// The recording is complete; the last message.
    Done {
        events: u64,
        lost: Lost,
        /// The names of the system calls in it, by their numbers on this machine.
        calls: BTreeMap<i64, String>,
    },
}

/// What the recording lacks, by why: with any, it has gaps.
#[derive(Debug, Serialize)]
pub(crate) struct Lost {
    /// Events, processes, sockets and packets that found no room.
    pub(crate) without_room: u64,
    /// Events within another one of the same kind, for which the kernel ran no program.
    pub(crate) nested: u64,
    /// Packets that a device has sent, and for which the kernel ran no program.
    pub(crate) unseen: u64,
}

pub(crate) fn print(message: &Message) -> Result<(), ObserverError> {
    let line = serde_json::to_string(message).expect("a message is made of numbers and words");
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")
        .and_then(|()| output.flush())
        .map_err(ObserverError::Front)
}
