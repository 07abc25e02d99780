//! What a service is told before it starts.

use std::collections::BTreeMap;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{OptionValue, Placement, Rendezvous, ServiceAddress};

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
    /// The address of the host it runs on.
    pub address: IpAddr,
    /// The network interface with that address.
    pub interface: String,
    /// What keeps this trial apart from every other on the machine.
    pub rendezvous: Rendezvous,
    /// All services of the trial, itself included: a router or bridge finds its peers here.
    pub services: Vec<ServiceAddress>,
    /// The profile's name.
    pub profile: String,
    /// Options that the suite sets beyond the profile.
    pub options: BTreeMap<String, OptionValue>,
    /// The largest message that it must pass on.
    pub largest_message_bytes: u64,
    /// Where and how the operating system runs it.
    pub placement: Placement,
}
