use std::collections::BTreeMap;

use middlemark_contract::OptionValue;
use serde_json::json;

use super::*;
use crate::description;

/// As the kernel of a little-endian machine writes it.
const TABLE: &str = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth1\t000000E0\t00000000\t0001\t0\t0\t0\t000000F0\t0\t0\t0
eth2\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
eth2\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0
eth3\t0200000A\t00000000\t0001\t0\t0\t0\tFEFFFFFF\t0\t0\t0
";

#[test]
#[cfg(target_endian = "little")]
fn a_default_or_a_multicast_route_will_do_on_the_interface_itself() {
    assert!(leads_to(TABLE, "eth0", MULTICAST));
    assert!(leads_to(TABLE, "eth1", MULTICAST));
    assert!(!leads_to(TABLE, "eth2", MULTICAST));
    assert!(!leads_to(TABLE, "lo", MULTICAST));
}

#[test]
#[cfg(target_endian = "little")]
fn broadcast_goes_to_the_narrowest_network_that_the_interface_itself_is_in() {
    let address = Ipv4Addr::new(10, 0, 0, 2);
    assert_eq!(broadcast_of(TABLE, "eth2", address), Some(Ipv4Addr::new(10, 0, 0, 255)));
    assert_eq!(
        broadcast_of(TABLE, "eth0", address),
        None,
        "a default route is no network"
    );
    assert_eq!(
        broadcast_of(TABLE, "eth3", address),
        None,
        "two addresses leave none for it"
    );
}

fn options(discovery: &str) -> Options {
    let set = [("discovery".to_owned(), OptionValue::Text(discovery.into()))];
    Options::resolve(&description::describe(), "default", &BTreeMap::from(set)).unwrap()
}

fn spec(own: &str, subscriber: &str) -> ApplicationSpec {
    let endpoint = |application: &str, address: &str| json!({ "application": application, "address": address });
    serde_json::from_value(json!({
        "contract_version": 2, "application": "left", "delivery": "library_thread", "address": own, "interface": "eth0",
        "rendezvous": {
            "name": "trial", "token": 1, "domain": 0, "first_port": 20000, "ports": 8, "folder": "/tmp/trial",
        },
        "services": [], "profile": "default", "options": {}, "clock_offset_ns": 0, "endpoints": [], "verify": false,
        "streams": [{
            "name": "imu", "size_bytes": 64,
            "publishers": [endpoint("left", own)], "subscribers": [endpoint("right", subscriber)],
            "pattern": { "kind": "unthrottled", "approach_hz": 10.0, "messages": null },
            "qos": {
                "reliability": "reliable", "history": { "kind": "keep_all" }, "durability": "volatile",
                "congestion": "drop", "patience_ns": 0, "queue_bytes": 1, "level": null,
            },
        }],
        "recording": { "samples": 1, "messages": 1, "late_after_ns": 1, "folder": "/tmp/trial" },
        "placement": { "cpus": [], "scheduling": { "kind": "other" }, "spin_ns": 0 },
    }))
    .unwrap()
}

#[test]
fn hosts_that_are_only_named_to_each_other_are_refused_with_what_vsomeip_lacks() {
    let refusal = accept(&spec("10.0.0.1", "10.0.0.2"), &options("peers")).unwrap_err();
    assert_eq!(refusal.capability, "option");
    assert!(refusal.reason.contains("takes no subscriptions"), "{}", refusal.reason);
    assert!(
        refusal.reason.ends_with("ask for multicast or broadcast"),
        "{}",
        refusal.reason
    );
}

#[test]
fn within_a_host_nobody_is_looked_for() {
    for discovery in ["multicast", "broadcast", "peers"] {
        assert_eq!(accept(&spec("127.0.0.1", "127.0.0.1"), &options(discovery)), Ok(()));
    }
}

#[test]
fn broadcast_needs_addresses_that_have_it() {
    assert_eq!(accept(&spec("10.0.0.1", "10.0.0.2"), &options("broadcast")), Ok(()));
    assert!(accept(&spec("fd00::1", "fd00::2"), &options("broadcast")).is_err());
    assert_eq!(accept(&spec("fd00::1", "fd00::2"), &options("multicast")), Ok(()));
}
