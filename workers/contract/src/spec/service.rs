//! What a service is told before it starts.

use std::collections::BTreeMap;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Congestion, OptionValue, Placement, Qos, Rendezvous, Security, ServiceAddress};

/// The spec of one service process of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceSpec {
    /// [`crate::CONTRACT_VERSION`] of the front.
    pub contract_version: u32,
    /// Which service, as named in `Description::services`.
    pub service: String,
    /// Its number within the trial, from 0.
    pub index: u16,
    /// Every address of the host it runs on, one for each of its networks, and never none: it serves on each of them.
    /// The first is the one that it calls itself by.
    #[schemars(length(min = 1))]
    pub addresses: Vec<IpAddr>,
    /// The network interface with the first address.
    pub interface: String,
    /// What keeps this trial apart from every other on the machine.
    pub rendezvous: Rendezvous,
    /// The other services that it is linked with, itself not among them, each under the address by which this host
    /// reaches it. Of two that are linked each names the other, the one with the higher index connects, and the links
    /// of a trial have no circle.
    pub services: Vec<ServiceAddress>,
    /// The profile's name.
    pub profile: String,
    /// Options that the suite sets beyond the profile.
    pub options: BTreeMap<String, OptionValue>,
    /// How far this machine's `CLOCK_MONOTONIC` is ahead of the front's, on whose clock all instants of commands, events
    /// and samples are; 0 on the front's own machine.
    pub clock_offset_ns: i64,
    /// The largest message that it must pass on.
    pub largest_message_bytes: u64,
    /// The most that any stream lets be queued for one slow receiver (`queue_bytes` of [`Qos`]).
    pub queue_bytes: u64,
    /// [`Congestion::Block`] where any stream requests it: then nothing that was accepted may be dropped.
    pub congestion: Congestion,
    /// The longest that any stream lets a publish call wait.
    pub patience_ns: u64,
    /// Where and how the operating system runs it.
    pub placement: Placement,
    /// What it keeps strangers out with; none where the trial is open to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<Security>,
}

impl ServiceSpec {
    /// The address that it calls itself by.
    ///
    /// # Panics
    /// Where the spec has none, which the runtime refuses beforehand.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        *self.addresses.first().expect("a service's host has an address")
    }

    /// How many bytes a queue for one slow receiver has room for.
    #[must_use]
    pub fn queued_bytes(&self) -> u64 {
        let fewest = Qos::FEWEST_QUEUED.saturating_mul(self.largest_message_bytes);
        self.queue_bytes.max(fewest)
    }

    /// The services that it connects to; the others it is linked with connect to it.
    pub fn connects_to(&self) -> impl Iterator<Item = &ServiceAddress> {
        self.services.iter().filter(|service| service.index < self.index)
    }
}
