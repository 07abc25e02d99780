//! What a worker says of itself: `describe`.

mod matching;
mod profile;
mod protocol;

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Congestion, Deliveries, Durability, HistoryKind, LackingSecurity, Reliability, SecurityDescription, Serialisation,
};

pub use matching::Matching;
pub use profile::{Axis, DELIVERY, Profile, Tuning};
pub use protocol::Protocol;

/// A worker's whole account of its middleware, printed by `describe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// [`crate::CONTRACT_VERSION`] of the worker.
    pub contract_version: u32,
    /// The name used everywhere: lower case, as in `middlemark-worker-<middleware>`.
    pub middleware: String,
    /// The name as its makers write it.
    pub title: String,
    /// One sentence: what is measured and over which path by default.
    pub summary: String,
    /// The library really linked, with the version it reports itself.
    pub library: Library,
    /// What it can do; everything else is refused before a trial.
    pub capabilities: Capabilities,
    /// The protocols in which it speaks with other middlewares; empty where it speaks with itself alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<Protocol>,
    /// Wireshark's dissectors of what it puts on the wire; empty where it puts nothing there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dissectors: Vec<Dissector>,
    /// The services it needs, and when.
    pub services: Vec<ServiceNeed>,
    /// What takes a port of the trial's range each, beside its services and one for the trial as a whole.
    #[serde(default)]
    pub ports: PortHolders,
    /// `default` (as shipped) and `tuned` (as its own documentation advises), by name; where that advises otherwise for
    /// latency than for throughput, `tuned_latency` and `tuned_throughput` too, one of which `tuned` then equals.
    pub profiles: BTreeMap<String, Profile>,
    /// Every option with its default; a profile or a suite sets some of them.
    pub options: Vec<OptionDescription>,
}

/// The library that a worker is linked with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// Its name, or `none` for a baseline on the kernel alone.
    pub name: String,
    /// The version that the library itself reports at run time where it can.
    pub version: String,
    /// Where it comes from: a crate, a Debian package, bundled source.
    pub origin: String,
    /// The day (`2023-01-31`) since which the system's packages have this version, or on which its makers released it where
    /// the worker bundles an old one; none where it is current, or nothing on the machine says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
}

/// What shows a captured packet of the middleware field by field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dissector {
    /// Wireshark's name of the protocol, which filters its packets too.
    pub name: String,
    /// What Wireshark needs to be told, where it doesn't know the protocol's packets by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

/// What a middleware can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    /// The patterns that it carries.
    pub patterns: Vec<Pattern>,
    /// Values of the option `transport`, or the one path there is.
    pub transports: Vec<String>,
    /// Reliabilities that may be requested (it may deliver more, and then says so in `effective`).
    pub reliabilities: Vec<Reliability>,
    /// Durabilities that may be requested.
    pub durabilities: Vec<Durability>,
    /// Which messages it can keep for a slow receiver.
    pub histories: Vec<HistoryKind>,
    /// What it can do when the receiver is slower than the sender.
    pub congestion: Vec<Congestion>,
    /// Who can call an application with a message.
    pub deliveries: Deliveries,
    /// How a publisher comes to know that a subscriber is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching: Option<Matching>,
    /// The largest message over its widest transport; a narrower transport may refuse less.
    pub largest_message_bytes: u64,
    /// How it serialises typed messages, its default first; empty where it has octets alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serialisations: Vec<Serialisation>,
    /// Whether a message can be written in place, in memory of the middleware (a loan).
    pub zero_copy: bool,
    /// Whether publisher and subscriber may live in one application.
    pub same_process: bool,
    /// Levels of security that a trial can request, each with what it means here.
    pub security: Vec<SecurityDescription>,
    /// The other levels, each with the reason why it can't be had; empty where the worker doesn't say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacking_security: Vec<LackingSecurity>,
    /// Why an application that is paused and resumed (SIGSTOP, SIGCONT) takes no more part; none where it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacking_pause: Option<String>,
    /// Whether applications on different hosts can reach each other.
    pub between_hosts: bool,
}

/// The ways in which a stream's messages are produced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// An absolute schedule at a rate (open loop).
    Periodic,
    /// Several messages at once, at a rate of bursts.
    Burst,
    /// As fast as the middleware accepts.
    Unthrottled,
    /// A message, its answer, the next message (closed loop).
    PingPong,
    /// A request to a server and its response, by the middleware's own means of asking and answering.
    RequestResponse,
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// A process that a middleware needs beside the applications.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceNeed {
    /// Its name for `ServiceSpec::service`: `broker`, `router`, `routing_manager`, …
    pub service: String,
    /// How many: one for each host with applications, or one for each network.
    pub per: Per,
    /// Needed only where every one of these holds; always where the list is empty.
    pub when: Vec<When>,
    /// The system's program that it runs, where that isn't the worker with its library; none where it isn't installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<Library>,
    /// The machine's programs that it executes, as absolute paths, so that they can be put where it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Why it can't run on this machine, with what to do; none where it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What takes a port of the trial's range each, so that the range is as large as the trial needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortHolders {
    /// Every endpoint of every channel; so where a worker says nothing.
    #[default]
    Endpoints,
    /// Every publisher of every channel.
    Publishers,
    /// Every subscriber of every channel.
    Subscribers,
    /// Every application, for all its endpoints.
    Applications,
    /// Nothing does.
    Nothing,
}

impl fmt::Display for PortHolders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// For what a service is needed once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// One on each host that has applications.
    Host,
    /// One for the whole network.
    Network,
}

/// A condition on an option's resolved value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The option's name.
    pub option: String,
    /// The values under which the condition holds.
    pub values: Vec<OptionValue>,
}

/// One option of a middleware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OptionDescription {
    /// Its name, `snake_case`, with its unit.
    pub name: String,
    /// Which values it takes.
    pub kind: OptionKind,
    /// The value as the middleware is shipped.
    pub default: OptionValue,
    /// What it does, in one sentence.
    pub summary: String,
}

/// Which values an option takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum OptionKind {
    /// `true` or `false`.
    Boolean,
    /// A whole number within bounds, both included.
    Integer {
        /// The smallest value.
        minimum: i64,
        /// The largest value.
        maximum: i64,
    },
    /// One of these words.
    Choice {
        /// The words.
        choices: Vec<String>,
    },
    /// Any text.
    Text,
}

/// An option's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OptionValue {
    /// For [`OptionKind::Boolean`].
    Boolean(bool),
    /// For [`OptionKind::Integer`].
    Integer(i64),
    /// For [`OptionKind::Choice`] and [`OptionKind::Text`].
    Text(String),
}

impl From<bool> for OptionValue {
    fn from(value: bool) -> OptionValue {
        OptionValue::Boolean(value)
    }
}

impl From<i64> for OptionValue {
    fn from(value: i64) -> OptionValue {
        OptionValue::Integer(value)
    }
}

impl From<&str> for OptionValue {
    fn from(value: &str) -> OptionValue {
        OptionValue::Text(value.to_owned())
    }
}
