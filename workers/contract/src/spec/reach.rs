//! Where the other ends of an application's flows are, which decides the paths of its messages.

use std::collections::BTreeSet;
use std::ops::BitOr;

use crate::{ApplicationSpec, EndpointAddress, MessagePath, StreamSpec};

/// Where there is a peer that messages pass to or from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reach {
    /// In the application itself.
    pub within_application: bool,
    /// In another application of its host.
    pub within_host: bool,
    /// On another host.
    pub between_hosts: bool,
}

impl Reach {
    /// The paths to these peers: one to those in the application, one to those on its host, the network to all others. Where
    /// there is no peer, the path to one on its host.
    #[must_use]
    pub fn paths(self, within_application: MessagePath, within_host: MessagePath) -> Vec<MessagePath> {
        let nowhere = self == Reach::default();
        let paths = [
            self.within_application.then_some(within_application),
            (self.within_host || nowhere).then_some(within_host),
            self.between_hosts.then_some(MessagePath::Network),
        ];
        Vec::from_iter(paths.into_iter().flatten().collect::<BTreeSet<_>>())
    }
}

impl BitOr for Reach {
    type Output = Reach;

    /// Where either has a peer.
    fn bitor(self, other: Reach) -> Reach {
        Reach {
            within_application: self.within_application || other.within_application,
            within_host: self.within_host || other.within_host,
            between_hosts: self.between_hosts || other.between_hosts,
        }
    }
}

impl ApplicationSpec {
    /// Where the peers of this application's publishers and subscribers are; hosts are told apart by their addresses.
    #[must_use]
    pub fn reach(&self) -> Reach {
        let reaches = self.streams.iter().map(|stream| self.reach_of(stream));
        reaches.fold(Reach::default(), Reach::bitor)
    }

    /// The same of one stream.
    #[must_use]
    pub fn reach_of(&self, stream: &StreamSpec) -> Reach {
        let mut reach = Reach::default();
        let is_own = |end: &EndpointAddress| end.application == self.application;
        for (publisher, subscriber) in flows(stream) {
            match (is_own(publisher), is_own(subscriber)) {
                (false, false) => {}
                (true, true) => reach.within_application = true,
                _ if publisher.address == subscriber.address => reach.within_host = true,
                _ => reach.between_hosts = true,
            }
        }
        reach
    }
}

/// The two ends of every flow of a stream.
fn flows(stream: &StreamSpec) -> impl Iterator<Item = (&EndpointAddress, &EndpointAddress)> {
    (0..).zip(&stream.publishers).flat_map(move |(number, publisher)| {
        let joined = (0..).zip(&stream.subscribers);
        let joined = joined.filter(move |(index, _)| stream.is_joined(number, *index));
        joined.map(move |(_, subscriber)| (publisher, subscriber))
    })
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use serde_json::{Value, json};

    use super::*;

    fn end(application: &str, host: u8) -> EndpointAddress {
        EndpointAddress {
            application: application.into(),
            address: IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)),
        }
    }

    /// The reach of `a` on the first host, where a stream has these ends.
    fn reach(publishers: &[EndpointAddress], subscribers: &[EndpointAddress], pattern: &Value) -> (bool, bool, bool) {
        let spec = json!({
            "contract_version": 1, "application": "a", "address": "10.0.0.1", "interface": "lo",
            "rendezvous": {"name": "r", "token": 1, "domain": 0, "first_port": 1, "ports": 1, "folder": "/"},
            "services": [], "profile": "default", "options": {}, "delivery": "own_thread",
            "streams": [{
                "name": "s", "size_bytes": 64, "pattern": pattern,
                "qos": crate::Qos::RELIABLE, "publishers": publishers, "subscribers": subscribers,
            }],
            "endpoints": [], "clock_offset_ns": 0, "verify": false,
            "recording": {"samples": 1, "messages": 1, "late_after_ns": 1, "folder": "/"},
            "placement": {"cpus": [], "scheduling": {"kind": "other"}, "spin_ns": 0},
        });
        let reach = serde_json::from_value::<ApplicationSpec>(spec).unwrap().reach();
        (reach.within_application, reach.within_host, reach.between_hosts)
    }

    fn unthrottled() -> Value {
        json!({"kind": "unthrottled", "approach_hz": 1.0})
    }

    #[test]
    fn peers_are_told_apart_by_application_and_by_host() {
        let of = |subscribers: &[EndpointAddress]| reach(&[end("a", 1)], subscribers, &unthrottled());
        assert_eq!(of(&[end("a", 1)]), (true, false, false));
        assert_eq!(of(&[end("b", 1)]), (false, true, false));
        assert_eq!(of(&[end("b", 2)]), (false, false, true));
        assert_eq!(of(&[end("b", 2), end("a", 1)]), (true, false, true));
    }

    #[test]
    fn each_peer_has_its_path_and_who_has_none_the_path_on_its_host() {
        let of = |within_application, within_host, between_hosts| {
            let reach = Reach {
                within_application,
                within_host,
                between_hosts,
            };
            reach.paths(MessagePath::Process, MessagePath::SharedMemory)
        };
        assert_eq!(of(true, false, false), [MessagePath::Process]);
        assert_eq!(of(false, true, true), [MessagePath::Network, MessagePath::SharedMemory]);
        assert_eq!(of(false, false, false), [MessagePath::SharedMemory]);
    }

    #[test]
    fn a_stream_of_others_is_none_of_its_own() {
        assert_eq!(
            reach(&[end("b", 1)], &[end("c", 2)], &unthrottled()),
            (false, false, false)
        );
    }

    #[test]
    fn a_client_reaches_the_one_server_that_it_asks() {
        let pattern = json!({"kind": "request_response", "pace": {"kind": "closed", "approach_hz": 1.0}, "response_bytes": 64,
                          "outstanding": 1, "timeout_ns": 1, "server_time": {"kind": "constant", "time_ns": 0}, "seed": 1});
        let (publishers, subscribers) = ([end("b", 1), end("a", 1)], [end("a", 1), end("c", 2)]);
        assert_eq!(reach(&publishers, &subscribers, &pattern), (false, true, true));
    }
}
