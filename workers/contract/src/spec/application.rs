//! What an application is told before it does anything: its spec.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Delivery, NodeSpec, OptionValue, Refusal, Security, SecurityLevel, StreamSpec};

/// Everything an application needs to know of its trial, and no more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplicationSpec {
    /// [`crate::CONTRACT_VERSION`] of the front.
    pub contract_version: u32,
    /// This application's name, unique within the trial.
    pub application: String,
    /// The address of the host this application runs on.
    pub address: IpAddr,
    /// The network interface with that address; middleware that would choose among interfaces is bound to it.
    pub interface: String,
    /// What keeps this trial apart from every other on the machine.
    pub rendezvous: Rendezvous,
    /// The services that this host can reach, nearest first: an application uses the first of the kind that it needs.
    pub services: Vec<ServiceAddress>,
    /// The profile's name.
    pub profile: String,
    /// Options that the suite sets beyond the profile.
    pub options: BTreeMap<String, OptionValue>,
    /// Who calls it with a message: what the suite requests, else what the profile sets, else the worker's default.
    pub delivery: Delivery,
    /// Every stream of the trial.
    pub streams: Vec<StreamSpec>,
    /// The endpoints that this application holds.
    pub endpoints: Vec<Endpoint>,
    /// The nodes that this application executes between its subscribers and its publishers; none in most trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeSpec>,
    /// How far this machine's `CLOCK_MONOTONIC` is ahead of the front's, on whose clock all instants of commands, events
    /// and samples are; 0 on the front's own machine.
    pub clock_offset_ns: i64,
    /// Whether subscribers check each message's bytes.
    pub verify: bool,
    /// How much is recorded of each message.
    pub recording: Recording,
    /// Where and how the operating system runs it.
    pub placement: Placement,
    /// What it keeps strangers out with; none where the trial is open to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<Security>,
}

impl ApplicationSpec {
    /// The level of security that it has to keep; none where the trial is open to all.
    #[must_use]
    pub fn security_level(&self) -> Option<SecurityLevel> {
        self.security.as_ref().map(|security| security.level)
    }

    /// Refuses what a middleware can't do that takes all that comes, in the words of `why`: a publisher that nothing but a
    /// waiting publish call holds back. As many messages as the queue has room for do no harm.
    ///
    /// # Errors
    /// The refusal of an unthrottled stream that asks its publisher to wait.
    pub fn require_bounded_floods(&self, why: &str) -> Result<(), Refusal> {
        let held_back = self
            .streams
            .iter()
            .find(|stream| stream.is_held_back_by_waiting_alone());
        held_back.map_or(Ok(()), |stream| {
            Err(Refusal {
                capability: "congestion".into(),
                reason: format!(
                    "block on the unthrottled stream '{}': {why}; ask for drop, or for no more messages than the queue has room \
                     for",
                    stream.name
                ),
            })
        })
    }
}

/// What keeps two trials on one machine apart: names, numbers, ports and a folder that no other trial has now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rendezvous {
    /// A name of 1 to 24 letters, digits and `_`, for topics, networks, shared memory and sockets.
    pub name: String,
    /// Carried by each message; a message with another token is foreign, and counted so.
    pub token: u32,
    /// A small number (0 to 99) for DDS domains and the like.
    #[schemars(range(max = 99))]
    pub domain: u16,
    /// The first of this trial's ports, for TCP and UDP alike.
    pub first_port: u16,
    /// How many ports there are from `first_port` on.
    pub ports: u16,
    /// An existing folder of this trial on this host, for rendered configuration and sockets; short, absolute.
    pub folder: PathBuf,
}

/// Where a service is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceAddress {
    /// The service, as named in `Description::services`.
    pub service: String,
    /// Its number within the trial, from 0.
    pub index: u16,
    /// The address by which the host of the spec that names it reaches it.
    pub address: IpAddr,
}

/// One publisher or subscriber that an application holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// The stream's name.
    pub stream: String,
    /// Whether it publishes or subscribes.
    pub role: Role,
    /// Its index in the stream's `publishers` or `subscribers`.
    pub index: u16,
}

/// What an endpoint does. In a ping-pong the publisher is the client, the subscriber the one who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It sends the stream's messages.
    Publisher,
    /// It receives them.
    Subscriber,
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// How much is recorded, and where it goes after the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// Memory is reserved for this many samples of each endpoint, or for all its messages where those are fewer; what comes
    /// beyond goes into the histogram, counted.
    pub samples: u64,
    /// The most messages that one publisher of any stream may send within the window: accounting is reserved for so many,
    /// or for as many as the stream names.
    pub messages: u32,
    /// A message that takes longer than this from its send is late, not received (RFC 7680's Tmax).
    pub late_after_ns: u64,
    /// The folder that `received.npy`, `published.npy`, the records of nodes and histograms are written to, prefixed by
    /// the application's name.
    pub folder: PathBuf,
}

/// Where and how the operating system runs an application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// The CPUs it may run on; empty: all that the host gives.
    pub cpus: Vec<u32>,
    /// Its scheduling class.
    pub scheduling: Scheduling,
    /// A publisher wakes this much before each intended instant and spins until it; 0: it only sleeps.
    pub spin_ns: u64,
}

/// A scheduling class of Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Scheduling {
    /// `SCHED_OTHER`.
    Other,
    /// `SCHED_FIFO` at a priority.
    Fifo {
        /// 1 to 99.
        #[schemars(range(min = 1, max = 99))]
        priority: u8,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Congestion;

    fn unthrottled(messages: Option<u64>, congestion: Congestion) -> ApplicationSpec {
        serde_json::from_value(serde_json::json!({
            "contract_version": 2, "application": "left", "delivery": "library_thread", "address": "127.0.0.1", "interface": "lo",
            "rendezvous": {
                "name": "trial", "token": 1, "domain": 0, "first_port": 20000, "ports": 8, "folder": "/tmp/trial",
            },
            "services": [], "profile": "default", "options": {}, "clock_offset_ns": 0, "endpoints": [], "verify": false,
            "streams": [{
                "name": "flood", "size_bytes": 1 << 20, "publishers": [], "subscribers": [],
                "pattern": { "kind": "unthrottled", "approach_hz": 10.0, "messages": messages },
                "qos": {
                    "reliability": "reliable", "history": { "kind": "keep_all" }, "durability": "volatile",
                    "congestion": congestion, "patience_ns": 0, "queue_bytes": 8 << 20, "level": null,
                },
            }],
            "recording": { "samples": 1, "messages": 1, "late_after_ns": 1, "folder": "/tmp/trial" },
            "placement": { "cpus": [], "scheduling": { "kind": "other" }, "spin_ns": 0 },
        }))
        .unwrap()
    }

    #[test]
    fn an_unthrottled_publisher_that_is_to_wait_gets_only_what_the_queue_has_room_for() {
        let room = 8; // of 1 MiB each
        let judged = |messages, congestion| unthrottled(messages, congestion).require_bounded_floods("it takes all");
        assert_eq!(judged(None, Congestion::Drop), Ok(()));
        assert_eq!(judged(Some(room), Congestion::Block), Ok(()));
        for messages in [None, Some(room + 1)] {
            let refusal = judged(messages, Congestion::Block).unwrap_err();
            assert_eq!(refusal.capability, "congestion");
        }
    }
}
