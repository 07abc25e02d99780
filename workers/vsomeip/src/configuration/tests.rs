use std::collections::BTreeMap;

use middlemark_contract::OptionValue;

use super::*;
use crate::description;

fn rendezvous() -> Rendezvous {
    Rendezvous {
        name: "trial".into(),
        token: 1,
        domain: 0,
        first_port: 20000,
        ports: 4,
        folder: "/tmp/trial".into(),
    }
}

fn options(profile: &str, overrides: &[(&str, OptionValue)]) -> Options {
    let overrides: BTreeMap<_, _> = overrides
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    Options::resolve(&description::describe(), profile, &overrides).unwrap()
}

fn render(address: &str, is_between_hosts: bool, options: &Options) -> Value {
    render_with(address, is_between_hosts, None, options)
}

fn render_with(address: &str, is_between_hosts: bool, broadcast: Option<Ipv4Addr>, options: &Options) -> Value {
    let node = Node {
        name: "left",
        address: address.parse().unwrap(),
        rendezvous: &rendezvous(),
        is_between_hosts,
        is_secured: false,
        broadcast,
        host: Some(1),
        queue_limit_bytes: None,
        options,
    };
    node.render()
}

#[test]
fn within_a_host_there_is_nothing_to_discover_and_no_port_to_open() {
    assert_eq!(
        render("127.0.0.1", false, &options("default", &[])),
        json!({
            "unicast": "127.0.0.1",
            "network": "tmp/trial/127.0.0.1",
            "routing": "routing_manager",
            "applications": [{
                "name": "left",
                "threads": "2",
                "max_dispatchers": "10",
                "max_dispatch_time": "100",
                "request_debounce_time": "10",
            }],
            "logging": {
                "level": "info",
                "console": "false",
                "file": { "enable": "true", "path": "/tmp/trial/127.0.0.1.left.log" },
                "dlt": "false",
            },
            "shutdown_timeout": "1500",
            "service-discovery": { "enable": "false" },
            "npdu-default-timings": {
                "debounce-time-request": "2",
                "debounce-time-response": "2",
                "max-retention-time-request": "5",
                "max-retention-time-response": "5",
            },
            "buffer-shrink-threshold": "5",
            "udp-receive-buffer-size": "1703936",
        })
    );
}

#[test]
fn between_hosts_every_port_but_the_last_is_a_service_and_the_last_is_discovery() {
    let rendered = render("10.0.0.1", true, &options("tuned", &[]));
    let service = |id: &str, port: &str| {
        json!({
            "service": id,
            "instance": "0x0001",
            "reliable": { "port": port, "enable-magic-cookies": "false" },
            "unreliable": port,
        })
    };
    assert_eq!(
        rendered["services"],
        json!([
            service("0x1000", "20000"),
            service("0x1001", "20001"),
            service("0x1002", "20002")
        ])
    );
    assert_eq!(
        rendered["service-discovery"],
        json!({
            "enable": "true",
            "port": "20003",
            "initial_delay_min": "10",
            "initial_delay_max": "100",
            "repetitions_base_delay": "10",
            "offer_debounce_time": "10",
            "max_remote_subscribers": "255",
        })
    );
    assert_eq!(
        rendered["diagnosis"], "0x02",
        "another identifier than a client of the first host"
    );
    assert_eq!(rendered["npdu-default-timings"]["debounce-time-response"], "0");
    assert_eq!(rendered["npdu-default-timings"]["max-retention-time-response"], "0");
}

#[test]
fn a_broadcast_address_takes_the_place_of_the_multicast_address() {
    let address = Some(Ipv4Addr::new(10, 0, 0, 255));
    let rendered = render_with("10.0.0.1", true, address, &options("default", &[]));
    assert_eq!(rendered["service-discovery"]["multicast"], "10.0.0.255");
}

#[test]
fn a_named_transport_opens_only_its_own_ports() {
    let tcp = options("default", &[("transport", OptionValue::Text("tcp".into()))]);
    let rendered = render("10.0.0.1", true, &tcp);
    assert!(rendered["services"][0].get("unreliable").is_none());
    let udp = options("default", &[("transport", OptionValue::Text("udp".into()))]);
    let rendered = render("10.0.0.1", true, &udp);
    assert!(rendered["services"][0].get("reliable").is_none());
}

#[test]
fn someip_tp_is_configured_for_the_event_and_for_both_directions_of_the_method() {
    let segments = |method: &str| json!({ "method": method, "max-segment-length": "1392", "separation-time": "0" });
    let rendered = render(
        "10.0.0.1",
        true,
        &options("default", &[("someip_tp", OptionValue::Boolean(true))]),
    );
    assert_eq!(
        rendered["services"][0]["someip-tp"],
        json!({
            "service-to-client": [segments("0x8001"), segments("0x0001")],
            "client-to-service": [segments("0x0001")],
        })
    );
}

#[test]
fn an_unlimited_queue_is_left_as_shipped() {
    let rendered = render("127.0.0.1", false, &options("default", &[]));
    assert!(rendered.get("endpoint-queue-limit-local").is_none());
}

#[test]
fn a_service_follows_from_its_publishers_port() {
    assert_eq!(service(&rendezvous(), 20000), 0x1000);
    assert_eq!(service(&rendezvous(), 20002), 0x1002);
}

#[test]
fn a_folder_too_deep_for_sockets_is_refused() {
    let address = "127.0.0.1".parse().unwrap();
    assert_eq!(accept_folder(&rendezvous(), address), Ok(()));
    let deep = Rendezvous {
        folder: format!("/tmp/{}", "x".repeat(100)).into(),
        ..rendezvous()
    };
    assert_eq!(accept_folder(&deep, address).unwrap_err().capability, "spec");
}
