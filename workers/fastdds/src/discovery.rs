//! How participants find each other: by multicast, at given addresses, or through discovery servers; it creates nothing.

use std::ffi::CString;
use std::net::IpAddr;

use middlemark_contract::{ApplicationSpec, Refusal, Rendezvous, ServiceAddress, ServiceSpec};
use middlemark_dds::Peers;
use middlemark_runtime::Options;

use crate::shim::ShimPlace;
use crate::transport::Transport;

/// The values of the option `discovery`, as shipped first.
pub(crate) const DISCOVERIES: [&str; 3] = ["multicast", "peers", "server"];

/// The service's name in the description and in specs.
pub(crate) const SERVER: &str = "discovery_server";

/// The values of `mm_discovery`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Multicast = 0,
    Peers = 1,
    Client = 2,
    Server = 3,
}

/// Where a participant or a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) address: IpAddr,
    /// 0: the library's own.
    pub(crate) port: u16,
    pub(crate) index: u16,
}

/// Where a participant is found and where it looks for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Discovery {
    pub(crate) kind: Kind,
    pub(crate) own: Vec<Place>,
    pub(crate) others: Vec<Place>,
    /// How many participants a host may have.
    pub(crate) participants: u32,
}

/// Places as the shim takes them, with the texts that they point to.
pub(crate) struct ShimPlaces {
    pub(crate) places: Vec<ShimPlace>,
    _addresses: Vec<CString>,
}

impl ShimPlaces {
    pub(crate) fn of(places: &[Place]) -> ShimPlaces {
        let addresses: Vec<_> = places
            .iter()
            .map(|place| CString::new(place.address.to_string()).expect("an address has no zero byte"))
            .collect();
        let places = places.iter().zip(&addresses).map(|(place, address)| ShimPlace {
            address: address.as_ptr(),
            port: place.port,
            index: place.index,
        });
        ShimPlaces {
            places: places.collect(),
            _addresses: addresses,
        }
    }
}

impl Discovery {
    pub(crate) fn of_application(spec: &ApplicationSpec, options: &Options) -> Discovery {
        let peers = Peers::of(&spec.streams);
        let (kind, others) = match options.text("discovery") {
            "peers" => (Kind::Peers, peers.hosts.iter().copied().map(anywhere).collect()),
            "server" => {
                let nearest = servers(&spec.services).next();
                (
                    Kind::Client,
                    nearest
                        .map(|server| place(server, &spec.rendezvous))
                        .into_iter()
                        .collect(),
                )
            }
            _ => (Kind::Multicast, Vec::new()),
        };
        Discovery {
            kind,
            own: vec![anywhere(spec.address)],
            others,
            participants: peers.applications as u32,
        }
    }

    pub(crate) fn of_server(spec: &ServiceSpec) -> Discovery {
        let own = spec.addresses.iter().map(|address| Place {
            address: *address,
            port: port(&spec.rendezvous, spec.index),
            index: spec.index,
        });
        Discovery {
            kind: Kind::Server,
            own: own.collect(),
            others: spec
                .connects_to()
                .map(|server| place(server, &spec.rendezvous))
                .collect(),
            participants: 0,
        }
    }
}

/// Refuses what can't be found.
pub(crate) fn accept(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    let discovery = options.text("discovery");
    let refuse = |reason: String| {
        Err(Refusal {
            capability: "option".into(),
            reason,
        })
    };
    if discovery == "multicast" {
        return Ok(());
    }
    if !Transport::of(options).has_udp() {
        return refuse(format!(
            "discovery '{discovery}' goes over UDP, which transport '{}' leaves out",
            options.text("transport")
        ));
    }
    if Transport::of(options) == Transport::LargeData {
        return refuse(format!(
            "discovery '{discovery}' needs ports that are known beforehand: LARGE_DATA announces participants by multicast, and listens on TCP ports that the system chooses; allowed: multicast, or transport default or udp"
        ));
    }
    if discovery == "server" && servers(&spec.services).next().is_none() {
        return refuse(format!(
            "discovery 'server' needs the service '{SERVER}', and the spec has none"
        ));
    }
    Ok(())
}

fn servers(services: &[ServiceAddress]) -> impl Iterator<Item = &ServiceAddress> {
    services.iter().filter(|service| service.service == SERVER)
}

fn anywhere(address: IpAddr) -> Place {
    Place {
        address,
        port: 0,
        index: 0,
    }
}

fn place(server: &ServiceAddress, rendezvous: &Rendezvous) -> Place {
    Place {
        address: server.address,
        port: port(rendezvous, server.index),
        index: server.index,
    }
}

/// A server's port: from the end of the trial's range.
fn port(rendezvous: &Rendezvous, index: u16) -> u16 {
    rendezvous.first_port + rendezvous.ports - 1 - index
}

#[cfg(test)]
mod tests {
    use super::*;
    use middlemark_contract::OptionValue;
    use serde_json::json;

    fn spec() -> ApplicationSpec {
        let endpoint =
            |application: &str, host: u8| json!({ "application": application, "address": format!("10.0.0.{host}") });
        serde_json::from_value(json!({
            "contract_version": 2, "delivery": "own_thread", "application": "a", "address": "10.0.0.1", "interface": "eth0",
            "rendezvous": {
                "name": "t", "token": 1, "domain": 0, "first_port": 7550, "ports": 100, "folder": "/tmp",
            },
            "services": [
                { "service": SERVER, "index": 1, "address": "10.0.0.2" },
                { "service": SERVER, "index": 0, "address": "10.0.0.1" },
            ],
            "profile": "default", "options": {}, "clock_offset_ns": 0,
            "streams": [{
                "name": "s", "size_bytes": 64, "pattern": { "kind": "unthrottled", "approach_hz": 1.0, "messages": null },
                "qos": {
                    "reliability": "reliable", "history": { "kind": "keep_all" }, "durability": "volatile",
                    "congestion": "block", "patience_ns": 0, "queue_bytes": 1, "level": null,
                },
                "publishers": [endpoint("a", 1)], "subscribers": [endpoint("b", 2), endpoint("c", 2)],
            }],
            "endpoints": [], "verify": false,
            "recording": { "samples": 1, "messages": 1, "late_after_ns": 1, "folder": "/tmp" },
            "placement": { "cpus": [], "scheduling": { "kind": "other" }, "spin_ns": 0 },
        }))
        .unwrap()
    }

    fn options(values: &[(&str, &str)]) -> Options {
        let set = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), OptionValue::Text((*value).to_owned())));
        Options::resolve(&crate::description::describe(), "default", &set.collect()).unwrap()
    }

    #[test]
    fn peers_are_the_trial_s_hosts_each_once() {
        let discovery = Discovery::of_application(&spec(), &options(&[("discovery", "peers")]));
        let addresses: Vec<_> = discovery.others.iter().map(|place| place.address.to_string()).collect();
        assert_eq!(
            (addresses, discovery.participants),
            (vec!["10.0.0.1".into(), "10.0.0.2".into()], 3)
        );
    }

    #[test]
    fn a_client_uses_the_nearest_server_at_its_own_port() {
        let discovery = Discovery::of_application(&spec(), &options(&[("discovery", "server")]));
        let places: Vec<_> = discovery
            .others
            .iter()
            .map(|place| (place.address.to_string(), place.port))
            .collect();
        assert_eq!(places, [("10.0.0.2".to_owned(), 7648)]);
    }

    #[test]
    fn a_server_is_refused_that_is_not_there_or_can_t_be_reached() {
        let lonely = ApplicationSpec {
            services: Vec::new(),
            ..spec()
        };
        assert!(accept(&lonely, &options(&[("discovery", "server")])).is_err());
        for transport in ["shm", "large_data"] {
            assert!(accept(&spec(), &options(&[("discovery", "server"), ("transport", transport)])).is_err());
        }
        assert!(accept(&spec(), &options(&[("discovery", "server")])).is_ok());
    }
}
