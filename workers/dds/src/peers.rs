//! The peers that a participant is told of where multicast does not reach them; nothing is sent here.

use std::collections::BTreeSet;
use std::net::IpAddr;

use middlemark_contract::StreamSpec;

/// The hosts and the number of applications of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peers {
    /// Each host's address, once.
    pub hosts: BTreeSet<IpAddr>,
    /// How many applications there are, on all hosts.
    pub applications: usize,
}

impl Peers {
    /// Those who hold the endpoints of these streams.
    #[must_use]
    pub fn of(streams: &[StreamSpec]) -> Peers {
        let endpoints = || {
            streams
                .iter()
                .flat_map(|stream| stream.publishers.iter().chain(&stream.subscribers))
        };
        let applications: BTreeSet<_> = endpoints().map(|endpoint| &endpoint.application).collect();
        Peers {
            hosts: endpoints().map(|endpoint| endpoint.address).collect(),
            applications: applications.len(),
        }
    }
}
