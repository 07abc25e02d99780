//! What RustDDS can't do with a trial's hosts and applications: it is refused here, before anything of it is made.

use std::collections::BTreeSet;
use std::net::IpAddr;

use middlemark_contract::{ApplicationSpec, Refusal};
use middlemark_runtime::Options;

/// `SPDP_LOCALHOST_PEER_COUNT`: to so many a participant announces itself at 127.0.0.1, where no multicast goes.
const MOST_AT_LOOPBACK: usize = 12;

/// Refuses what the library has no socket for, and participants that would not find each other.
pub(crate) fn accept(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    let is_seen_there = options.boolean("same_host_loopback");
    accept_host(spec.address, applications_here(spec), is_seen_there)
}

fn accept_host(address: IpAddr, applications: usize, is_seen_there: bool) -> Result<(), Refusal> {
    if !address.is_ipv4() {
        return Err(Refusal {
            capability: "spec".into(),
            reason: format!("RustDDS sends over IPv4 alone, the host's address is {address}"),
        });
    }
    if address.is_loopback() && !is_seen_there {
        return Err(Refusal {
            capability: "option".into(),
            reason: format!("same_host_loopback: false at {address}: RustDDS then sends nothing there"),
        });
    }
    if address.is_loopback() && applications > MOST_AT_LOOPBACK {
        return Err(Refusal {
            capability: "placement".into(),
            reason: format!(
                "{applications} applications at {address}, where a participant of RustDDS looks for {MOST_AT_LOOPBACK}; \
                 request fewer, or several hosts"
            ),
        });
    }
    Ok(())
}

/// How many applications of this host have endpoints.
fn applications_here(spec: &ApplicationSpec) -> usize {
    let endpoints = spec
        .streams
        .iter()
        .flat_map(|stream| stream.publishers.iter().chain(&stream.subscribers));
    let here = endpoints.filter(|endpoint| endpoint.address == spec.address);
    here.map(|endpoint| &endpoint.application)
        .collect::<BTreeSet<_>>()
        .len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(address: &str, applications: usize, is_seen_there: bool) -> Option<Refusal> {
        accept_host(address.parse().unwrap(), applications, is_seen_there).err()
    }

    #[test]
    fn an_address_of_ipv6_is_refused() {
        let refusal = refused("fd00::1", 1, true).unwrap();
        assert!(refusal.reason.contains("fd00::1"), "{}", refusal.reason);
    }

    #[test]
    fn more_participants_than_look_for_each_other_are_refused_at_the_loopback_address_alone() {
        assert_eq!(refused("127.0.0.1", 12, true), None);
        let refusal = refused("127.0.0.1", 13, true).unwrap();
        assert_eq!(
            (refusal.capability.as_str(), refusal.reason.as_str()),
            (
                "placement",
                "13 applications at 127.0.0.1, where a participant of RustDDS looks for 12; request fewer, or several hosts"
            )
        );
        assert_eq!(refused("10.0.0.1", 64, true), None);
    }

    #[test]
    fn a_participant_that_does_not_look_at_the_loopback_address_is_refused_there() {
        assert_eq!(refused("127.0.0.1", 2, false).unwrap().capability, "option");
        assert_eq!(refused("10.0.0.1", 2, false), None);
    }
}
