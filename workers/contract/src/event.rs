//! What a worker says to the front.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Delivery, NodeCounts, PathProof, Resources, SecurityLevel};

/// An application's events. `armed` or `refused` comes first; after `refused` the process ends with exit status 2;
/// `failed` may come at any time and is the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "event", deny_unknown_fields)]
pub enum ApplicationEvent {
    /// The spec is valid, memory is reserved and touched, the middleware is not yet initialised.
    Armed {
        /// What one reading of the clock costs here.
        clock_cost_ns: f64,
        /// Resident memory now: what the harness itself takes, so that the middleware's own can be told from it.
        resident_bytes: u64,
    },
    /// The spec requests something that this middleware can't do.
    Refused(Refusal),
    /// The middleware runs and all endpoints of this application exist; `effective` follows at once, and again before the
    /// window where something else is in force by then.
    Initialised {
        /// Since when.
        since_ns: u64,
    },
    /// What the middleware runs with.
    Effective(Effective),
    /// A publisher knows for the first time that a subscriber is there, as the description's `matching` says.
    Matched(FirstMatch),
    /// A subscriber has the first message of a publisher, which may be a greeting; or a ping-pong's client the first answer
    /// of a subscriber, whose way back is found later, by some middleware, than the way there.
    FirstMessage(FirstArrival),
    /// The same of the first message that has its full size.
    FirstFullMessage(FirstArrival),
    /// The window is over: what this application's publishers sent in it.
    Published {
        /// One entry a publisher; empty for an application without one.
        publishers: Vec<PublisherCounts>,
    },
    /// All is received or given up, and the samples are written.
    Done {
        /// One entry a subscriber and publisher.
        subscribers: Vec<SubscriberCounts>,
        /// One entry a node.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<NodeCounts>,
        /// What the process spent over the window.
        resources: Resources,
        /// Which path the messages took.
        path: PathProof,
        /// The files written into the recording folder.
        files: Vec<String>,
    },
    /// Told to stop before it was told to approach: what its endpoints know of those whom they should have met.
    Unheard {
        /// A sentence for each endpoint that its middleware lets know.
        endpoints: Vec<String>,
    },
    /// The middleware is closed; the process ends with exit status 0.
    Closed {
        /// How long closing took.
        took_ns: u64,
    },
    /// Something went wrong that the trial can't go on after; the process ends with exit status 1.
    Failed {
        /// What was being done.
        doing: String,
        /// The chain of causes, outermost first.
        causes: Vec<String>,
    },
}

/// When a publisher first knew that a subscriber is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstMatch {
    /// The stream's name.
    pub stream: String,
    /// Whether it publishes answers.
    pub answers: bool,
    /// The publisher's index; of answers, the index of the subscriber that answers.
    pub publisher: u16,
    /// Since when.
    pub since_ns: u64,
    /// How long the handshake took by which both ends then knew who the other is; none where there is none, or the
    /// middleware does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_ns: Option<u64>,
}

/// The arrival of the first message on one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstArrival {
    /// The stream's name.
    pub stream: String,
    /// Whether it is an answer, at the client.
    pub answers: bool,
    /// The publisher's index; for an answer, the client's index.
    pub publisher: u16,
    /// The subscriber's index; for an answer, the index of the subscriber that answered.
    pub subscriber: u16,
    /// When it was received.
    pub received_ns: u64,
}

/// A request that can't be met, by the kind of capability that is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The capability requested: `size_bytes`, `reliability`, `durability`, `history`, `congestion`, `patience`, `queue`,
    /// `level`, `pattern`, `delivery`, `security`, `option`, `profile`, `placement`, `between_hosts`, `machine`, `service`,
    /// `contract_version`, `spec`.
    pub capability: String,
    /// What was requested, what there is, in one sentence.
    pub reason: String,
}

/// The configuration really applied, as far as the middleware lets it be read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Effective {
    /// The transport in words: `tcp`, `shared memory`, `udp multicast + unicast`, …
    pub transport: String,
    /// The paths that messages take under it: each takes some, and no other one any, which the proof of path must not
    /// contradict.
    #[schemars(length(min = 1))]
    pub paths: Vec<MessagePath>,
    /// Who calls the application with a message.
    pub delivery: Delivery,
    /// How that is done, in the middleware's own words.
    pub receive_mode: String,
    /// Whether messages are written in place or copied by the publish call.
    pub zero_copy: bool,
    /// The level of security that it keeps; none where it is open to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<SecurityLevel>,
    /// Every other setting that matters to a comparison, by the middleware's own names.
    pub settings: BTreeMap<String, String>,
}

/// A way that messages may take from one application to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessagePath {
    /// Frames on a network interface, loopback among them.
    Network,
    /// Memory that several processes have mapped.
    SharedMemory,
    /// A local socket of the kernel.
    LocalSocket,
    /// A call within one process, past sockets and shared memory.
    Process,
}

/// What one publisher did within the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublisherCounts {
    /// The stream's name.
    pub stream: String,
    /// The publisher's index.
    pub publisher: u16,
    /// Messages that the schedule held for the window (for patterns without one: messages tried); their sequence
    /// numbers are 0 to `intended - 1`.
    pub intended: u32,
    /// Messages handed to the middleware and accepted.
    pub sent: u32,
    /// Messages that the middleware did not accept.
    pub refused: u32,
    /// Messages, the last of the schedule, that were not offered: intended = sent + refused + unsent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unsent: u32,
    /// The first refusal's text.
    pub refusal: Option<String>,
    /// When the last publish call of the window returned.
    pub last_returned_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What one subscriber received of one publisher: sent = received + late + lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriberCounts {
    /// The stream's name.
    pub stream: String,
    /// Whether these are a ping-pong's answers, counted at the client.
    pub answers: bool,
    /// The publisher's index; for answers, the client's index.
    pub publisher: u16,
    /// The subscriber's index; for answers, the index of the subscriber that answered.
    pub subscriber: u16,
    /// Messages of the window received in time, each counted once.
    pub received: u64,
    /// Messages of the window received later than the spec's `late_after_ns` after their send, each counted once.
    pub late: u64,
    /// Messages received again after the first time.
    pub duplicates: u64,
    /// When the first of the duplicates came, as many as are kept (this project's runtime keeps 1024); so it can be told
    /// which came after a fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duplicates_received_ns: Vec<u64>,
    /// Messages received after one with a higher sequence number (RFC 4737).
    pub reordered: u64,
    /// Messages whose bytes were wrong (`verify`), their header or length included.
    pub corrupt: u64,
    /// Messages with another trial's token or another stream's number.
    pub foreign: u64,
    /// Samples with a receive stamp before their send stamp.
    pub negative: u64,
    /// Messages that came after the sample memory was full: in the histogram, not among the samples.
    pub beyond_samples: u64,
}

/// A service's events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "event", deny_unknown_fields)]
pub enum ServiceEvent {
    /// It accepts applications from now on.
    Ready {
        /// The version that the service reports.
        version: String,
        /// The configuration really applied.
        settings: BTreeMap<String, String>,
    },
    /// This worker has no such service, or can't run it as requested.
    Refused(Refusal),
    /// What it spent over the window.
    Measured {
        /// The service's process and its children.
        resources: Resources,
    },
    /// It is shut down; the process ends with exit status 0.
    Closed,
    /// It could not start or it died; the process ends with exit status 1.
    Failed {
        /// What was being done.
        doing: String,
        /// The chain of causes, outermost first.
        causes: Vec<String>,
    },
}
