//! A stream: one topic with its size, its pattern and the addresses of its endpoints; `qos` has what is requested of it,
//! `payload` what its messages hold.

mod payload;
mod qos;

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ComputeSpec, Recording};

pub use payload::{PayloadKind, PayloadSpec, Serialisation};
pub use qos::{Congestion, Durability, History, HistoryKind, Qos, Reliability};

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
    /// What messages hold behind their header, those that answer them too; none: octets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadSpec>,
    /// Of a periodic stream: the instants and sizes that its messages had when they were recorded, in place of equal
    /// intervals and one size; its rate is then the mean, its size the largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// The most messages that one of its publishers may send within the window, where that is less than
    /// [`Recording::messages`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u32>,
    /// What is requested of its delivery.
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
    /// The most messages that one of its publishers may send within the window.
    #[must_use]
    pub fn most_messages(&self, recording: &Recording) -> u32 {
        self.messages.unwrap_or(recording.messages)
    }

    /// Whether messages pass from a publisher to a subscriber, by index: all do but requests, where client k asks server
    /// k modulo the number of servers, as a client of a real service is bound to one instance of it.
    #[must_use]
    pub fn is_joined(&self, publisher: u16, subscriber: u16) -> bool {
        let is_bound = || usize::from(publisher) % self.subscribers.len().max(1) == usize::from(subscriber);
        !matches!(self.pattern, PatternSpec::RequestResponse { .. }) || is_bound()
    }

    /// Whether only a publish call that waits keeps its publishers from sending more than the queue has room for.
    #[must_use]
    pub(crate) fn is_held_back_by_waiting_alone(&self) -> bool {
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
/// warm up; [`Self::Unthrottled`] and [`Self::PingPong`] do so at `approach_hz`, as does a closed loop of requests.
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
    /// A request to a server, by the middleware's own means of asking and answering, and its response. The publishers are
    /// the clients, the subscribers the servers; see [`StreamSpec::is_joined`] for who asks whom.
    RequestResponse {
        /// When a client sends its requests.
        pace: PaceSpec,
        /// The size of the response.
        #[schemars(range(min = 32))]
        response_bytes: u64,
        /// The most requests of one client that are under way at once.
        #[schemars(range(min = 1, max = 1024))]
        outstanding: u32,
        /// After this a request counts as unanswered, and its response, should it come, as late.
        #[schemars(range(min = 1))]
        timeout_ns: u64,
        /// How long the server computes for each response; a server has one computation at a time.
        server_time: ComputeSpec,
        /// Decides, with the server's index, what is drawn for its computations.
        seed: u64,
    },
    /// A node sends one at the end of each execution, before the window as within.
    Computed {
        /// Messages a second at most, in the long run; none: nothing bounds it.
        rate_hz: Option<f64>,
    },
}

/// When a client sends its requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum PaceSpec {
    /// By an absolute schedule, whatever is still under way. A request that is due while as many as `outstanding` are is
    /// not sent, and counts as refused.
    Open {
        /// Requests a second.
        rate_hz: f64,
        /// How the intervals are distributed.
        arrival: Arrival,
    },
    /// As many requests as `outstanding` are under way at any time: the next is sent when a response has come, or the
    /// timeout of a request.
    Closed {
        /// The rate before the window.
        approach_hz: f64,
    },
}

impl PatternSpec {
    /// The size of the answer to each message, where it has one.
    #[must_use]
    pub fn answer_bytes(&self) -> Option<u64> {
        match *self {
            PatternSpec::PingPong { answer_bytes, .. } => Some(answer_bytes),
            PatternSpec::RequestResponse { response_bytes, .. } => Some(response_bytes),
            _ => None,
        }
    }
}

/// How the intervals of a periodic stream, or of a client's requests, are distributed.
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
