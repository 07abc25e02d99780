//! What is requested of a stream's delivery, in words of no middleware, and how much a queue has room for under it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is requested of delivery, in neutral words; each worker maps it to its own and states the outcome in `effective`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Qos {
    /// Whether lost messages are sent again.
    pub reliability: Reliability,
    /// Which messages are kept for a slow receiver.
    pub history: History,
    /// Whether a late joiner gets earlier messages.
    pub durability: Durability,
    /// What becomes of a message for which a slow receiver has left no room.
    pub congestion: Congestion,
    /// How long a publish call may wait for room under [`Congestion::Block`]; then the message was not accepted.
    #[schemars(range(max = 3_600_000_000_000_u64))]
    pub patience_ns: u64,
    /// The most that may be queued or kept for one slow receiver under [`History::KeepAll`].
    #[schemars(range(min = 1))]
    pub queue_bytes: u64,
    /// MQTT's level where a suite names it; none: 0 for best effort, 1 for reliable.
    #[schemars(range(max = 2))]
    pub level: Option<u8>,
}

impl Qos {
    /// What a suite requests that names nothing.
    pub const BEST_EFFORT: Qos = Qos {
        reliability: Reliability::BestEffort,
        history: History::KeepAll,
        durability: Durability::Volatile,
        congestion: Congestion::Drop,
        patience_ns: 5_000_000_000,
        queue_bytes: 16 << 20,
        level: None,
    };

    /// What a suite requests that names nothing but `reliable`: no message is lost.
    pub const RELIABLE: Qos = Qos {
        reliability: Reliability::Reliable,
        congestion: Congestion::Block,
        ..Qos::BEST_EFFORT
    };

    /// The longest patience that a spec may state.
    pub const LONGEST_PATIENCE_NS: u64 = 3_600_000_000_000;

    /// A queue has room for so many messages, however large they are: less would be a handover and no queue.
    pub const FEWEST_QUEUED: u64 = 4;

    /// A queue counted in messages has room for no more than these, however small they are: some middlewares reserve
    /// and touch all of it beforehand.
    pub const MOST_QUEUED: u64 = 4096;

    /// How many messages of a size a queue has room for that is counted in messages.
    #[must_use]
    pub fn queued_messages(&self, size_bytes: u64) -> u32 {
        match self.history {
            History::KeepLast { depth } => depth,
            History::KeepAll => {
                (self.queue_bytes / size_bytes.max(1)).clamp(Self::FEWEST_QUEUED, Self::MOST_QUEUED) as u32
            }
        }
    }

    /// How many bytes a queue has room for that is counted in bytes.
    #[must_use]
    pub fn queued_bytes(&self, size_bytes: u64) -> u64 {
        match self.history {
            History::KeepLast { depth } => u64::from(depth).saturating_mul(size_bytes),
            History::KeepAll => self.queue_bytes.max(Self::FEWEST_QUEUED.saturating_mul(size_bytes)),
        }
    }

    /// Whether the publish call waits for a slow receiver.
    #[must_use]
    pub fn blocks(&self) -> bool {
        self.congestion == Congestion::Block
    }
}

/// Whether lost messages are sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reliability {
    /// They are not, or need not be.
    BestEffort,
    /// They are.
    Reliable,
}

impl fmt::Display for Reliability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// Which messages are kept for a slow receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum History {
    /// The newest `depth`: a newer message overwrites the oldest. It never waits, so it is never combined with [`Congestion::Block`].
    KeepLast {
        /// How many.
        #[schemars(range(min = 1))]
        depth: u32,
    },
    /// The oldest, as many as [`Qos::queue_bytes`] have room for: none that was accepted is overwritten.
    KeepAll,
}

impl History {
    /// Which of the two it is.
    #[must_use]
    pub fn kind(&self) -> HistoryKind {
        match self {
            History::KeepLast { .. } => HistoryKind::KeepLast,
            History::KeepAll => HistoryKind::KeepAll,
        }
    }
}

/// Which messages are kept for a slow receiver, without how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HistoryKind {
    /// The newest: the oldest is overwritten.
    KeepLast,
    /// The oldest: none is overwritten.
    KeepAll,
}

impl fmt::Display for HistoryKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// Whether a late joiner gets earlier messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// It does not.
    Volatile,
    /// It gets the history of publishers that are still there.
    TransientLocal,
}

impl fmt::Display for Durability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// What becomes of a message for which a slow receiver has left no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Congestion {
    /// The publish call waits for room, up to [`Qos::patience_ns`]; no message that was accepted is dropped.
    Block,
    /// The publish call does not wait: the message is refused or, further on, dropped; under [`History::KeepLast`] the
    /// oldest is overwritten.
    Drop,
}

impl fmt::Display for Congestion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_requested_is_shown_as_a_suite_spells_it() {
        let shown = [
            Reliability::BestEffort.to_string(),
            HistoryKind::KeepAll.to_string(),
            Durability::TransientLocal.to_string(),
            Congestion::Drop.to_string(),
        ];
        assert_eq!(shown, ["best_effort", "keep_all", "transient_local", "drop"]);
    }

    #[test]
    fn a_queue_has_room_for_a_few_of_the_largest_and_not_for_endlessly_many_of_the_smallest() {
        let qos = Qos::RELIABLE;
        let room = [64, 1_000, 64 << 10, 64 << 20].map(|size_bytes| qos.queued_messages(size_bytes));
        assert_eq!(room, [4096, 4096, 256, 4]);
        assert_eq!(
            (qos.queued_bytes(64), qos.queued_bytes(64 << 20)),
            (16 << 20, 256 << 20)
        );
    }

    #[test]
    fn of_the_last_as_many_are_kept_as_the_depth_states() {
        let qos = Qos {
            history: History::KeepLast { depth: 3 },
            ..Qos::RELIABLE
        };
        assert_eq!((qos.queued_messages(64 << 20), qos.queued_bytes(1_000)), (3, 3_000));
    }
}
