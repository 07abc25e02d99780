//! A stream: one topic with its size, its pattern, its QoS and the addresses of its endpoints.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One topic from its publishers to its subscribers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// The topic's name, unique within the trial: letters, digits and `_`.
    pub name: String,
    /// The size of each message, header included.
    #[schemars(range(min = 32))]
    pub size_bytes: u64,
    /// How its messages are produced.
    pub pattern: PatternSpec,
    /// Of a periodic stream: the instants and sizes that its messages had when they were recorded, in place of equal
    /// intervals and one size; its rate is then the mean, its size the largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// What is asked of its delivery.
    pub qos: Qos,
    /// Every publisher of the stream, by index, whichever application holds it.
    pub publishers: Vec<EndpointAddress>,
    /// Every subscriber of the stream, by index, whichever application holds it.
    pub subscribers: Vec<EndpointAddress>,
}

/// Messages as they were recorded: message k is intended at begin + offset k. After the period they begin again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// When each message comes, from the beginning; none before the one ahead of it, all before the period's end.
    #[schemars(length(min = 1))]
    pub offsets_ns: Vec<u64>,
    /// The size of each message, header included: as many as there are offsets, the largest the stream's size.
    #[schemars(length(min = 1))]
    pub sizes_bytes: Vec<u64>,
    /// After this the first message comes again.
    #[schemars(range(min = 1))]
    pub period_ns: u64,
}

impl StreamSpec {
    /// Whether only a publish call that waits keeps its publishers from sending more than the queue has room for.
    #[must_use]
    pub fn is_held_back_by_waiting_alone(&self) -> bool {
        let most_messages = match self.pattern {
            PatternSpec::Unthrottled { messages, .. } => messages,
            PatternSpec::Computed { rate_hz: None } => None,
            _ => return false,
        };
        let fits = |messages: u64| messages.saturating_mul(self.size_bytes) <= self.qos.queued_bytes(self.size_bytes);
        self.qos.blocks() && !most_messages.is_some_and(fits)
    }
}

impl Recorded {
    /// When the k-th message comes, from the beginning.
    #[must_use]
    #[inline]
    pub fn offset_ns(&self, message: u64) -> u64 {
        let count = self.offsets_ns.len() as u64;
        message / count * self.period_ns + self.offsets_ns[(message % count) as usize]
    }

    /// The size of the k-th message.
    #[must_use]
    #[inline]
    pub fn size_bytes(&self, message: u64) -> u64 {
        self.sizes_bytes[(message % self.sizes_bytes.len() as u64) as usize]
    }
}

/// Where an endpoint lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointAddress {
    /// The application that holds it.
    pub application: String,
    /// The address by which the host of the spec that names it reaches that application's host; where no network joins
    /// the two, that host's first. An application on this host has this spec's own address.
    pub address: IpAddr,
}

/// How messages are produced. Before the measured window each pattern publishes at its rate from `approach` on, to
/// warm up; [`Self::Unthrottled`] and [`Self::PingPong`] do so at `approach_hz`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum PatternSpec {
    /// An absolute schedule, open loop: message k is intended at begin + k / rate.
    Periodic {
        /// Messages a second.
        rate_hz: f64,
        /// How the intervals are distributed.
        arrival: Arrival,
    },
    /// `messages` at one intended instant, `rate_hz` times a second.
    Burst {
        /// Bursts a second.
        rate_hz: f64,
        /// Messages of one burst.
        messages: u32,
    },
    /// As fast as the middleware accepts, until the window ends or `messages` are sent.
    Unthrottled {
        /// The rate before the window.
        approach_hz: f64,
        /// The most messages each publisher sends within the window; none: until it ends.
        messages: Option<u64>,
    },
    /// A message, then its answers from every subscriber, then the next message.
    PingPong {
        /// The rate before the window.
        approach_hz: f64,
        /// The size of the answer.
        #[schemars(range(min = 32))]
        answer_bytes: u64,
        /// The least time between two messages; 0: no waiting.
        interval_ns: u64,
        /// After this a missing answer is given up and the next message goes out.
        patience_ns: u64,
        /// The most messages each publisher sends within the window; none: until it ends.
        messages: Option<u64>,
    },
    /// A node sends one at the end of each execution, before the window as within.
    Computed {
        /// Messages a second at most, in the long run; none: nothing bounds it.
        rate_hz: Option<f64>,
    },
}

/// How the intervals of a periodic stream are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Arrival {
    /// All equal.
    Fixed,
    /// Exponential, from the seed and the publisher's index.
    Poisson {
        /// The same seed gives the same schedule.
        seed: u64,
    },
}

/// What is asked of delivery, in neutral words; each worker maps it to its own and states the outcome in `effective`.
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
    /// What a suite asks for that names nothing.
    pub const BEST_EFFORT: Qos = Qos {
        reliability: Reliability::BestEffort,
        history: History::KeepAll,
        durability: Durability::Volatile,
        congestion: Congestion::Drop,
        patience_ns: 5_000_000_000,
        queue_bytes: 16 << 20,
        level: None,
    };

    /// What a suite asks for that names nothing but `reliable`: no message is lost.
    pub const RELIABLE: Qos = Qos {
        reliability: Reliability::Reliable,
        congestion: Congestion::Block,
        ..Qos::BEST_EFFORT
    };

    /// The longest that a publish call may be asked to wait.
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

/// Which messages are kept for a slow receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum History {
    /// The newest `depth`: a newer message overwrites the oldest. It never waits, so it can't be asked to block.
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

/// Whether a late joiner gets earlier messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// It does not.
    Volatile,
    /// It gets the history of publishers that are still there.
    TransientLocal,
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn of_the_last_as_many_are_kept_as_were_asked_for() {
        let qos = Qos {
            history: History::KeepLast { depth: 3 },
            ..Qos::RELIABLE
        };
        assert_eq!((qos.queued_messages(64 << 20), qos.queued_bytes(1_000)), (3, 3_000));
    }
}
