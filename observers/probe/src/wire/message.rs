//! The requests of the measuring side to the answering side. Each may come twice: doing it again changes nothing.

use serde::{Deserialize, Serialize};

/// No train has more: more datagrams than any socket sends in the longest.
pub(crate) const MOST_WAGONS: u32 = 100_000_000;

/// A train of numbered datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Train {
    pub(crate) id: u32,
    /// UDP payload of each.
    pub(crate) size_bytes: usize,
    /// From one to the next; 0: as fast as the socket takes them.
    pub(crate) interval_ns: i64,
    /// A sender that was held up makes up for it, else it keeps its distance.
    pub(crate) catches_up: bool,
    /// It ends after so many, or after so long, whichever comes first.
    pub(crate) most: u32,
    pub(crate) longest_ns: i64,
}

/// Asked of the answering side.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Is anyone there?
    Hello,
    /// Send this train here.
    Send { train: Train },
    /// What came of a train that was sent or received there?
    Tell { train: u32 },
}

/// Its reply.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// What has arrived of a train.
    pub(crate) arrived: Arrived,
    /// How many were sent of a train; none while it is still being sent.
    pub(crate) sent: Option<u32>,
    /// Datagrams that this side discarded for a wrong checksum, since it started.
    pub(crate) checksum_failures: u64,
}

/// What has arrived of a train.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Arrived {
    /// Each number once.
    pub(crate) received: u32,
    pub(crate) duplicates: u64,
    /// Came behind a higher number.
    pub(crate) reordered: u64,
    /// Came before a lower number.
    pub(crate) overtaking: u32,
    /// From the first arrival to the last, by the kernel's stamps.
    pub(crate) span_ns: i64,
    /// From one arrival to the next while nothing held the train up.
    pub(crate) interval_ns: Option<f64>,
    /// Came as far as the socket and found its buffer full: this machine's doing, not the link's.
    pub(crate) dropped_by_receiver: u64,
}
