//! The lines of the configuration file.

use super::*;
use middlemark_contract::{OptionValue, SecretFiles, Security, SecurityLevel};
use serde_json::json;
use std::collections::BTreeMap;
fn broker(index: u16, address: [u8; 4]) -> serde_json::Value {
    json!({ "service": BROKER, "index": index, "address": IpAddr::from(address) })
}
fn rendered(addresses: &[&str], services: &[serde_json::Value]) -> String {
    rendered_for(Congestion::Drop, addresses, services)
}
fn rendered_for(congestion: Congestion, addresses: &[&str], services: &[serde_json::Value]) -> String {
    render(&settings(&spec(congestion, addresses, services), &options(), None).unwrap())
}

fn spec(congestion: Congestion, addresses: &[&str], services: &[serde_json::Value]) -> ServiceSpec {
    serde_json::from_value(json!({
        "contract_version": 1, "service": BROKER, "index": 1, "addresses": addresses, "interface": "eth0",
        "rendezvous": {
            "name": "t", "token": 1, "domain": 0, "first_port": 7550, "ports": 100, "folder": "/tmp/t",
        },
        "services": services, "profile": "default", "options": {}, "clock_offset_ns": 0, "largest_message_bytes": 1000,
        "queue_bytes": 4000, "congestion": congestion, "patience_ns": 0,
        "placement": { "cpus": [], "scheduling": { "kind": "other" }, "spin_ns": 0 },
    }))
    .unwrap()
}

fn options() -> Options {
    Options::resolve(&crate::description::describe(), "default", &BTreeMap::new()).unwrap()
}

/// Of a broker with security that listens at two addresses and has a bridge, with each path of a secret file by the file's
/// name alone.
fn secured(level: SecurityLevel) -> String {
    let folder = tempfile::tempdir().unwrap();
    let spec = ServiceSpec {
        security: Some(Security {
            level,
            files: SecretFiles::of([("password", "drawn".into())]),
        }),
        ..spec(Congestion::Drop, &["10.0.1.2", "10.0.2.2"], &[broker(0, [10, 0, 1, 1])])
    };
    let secrets = SecretFolder::write(folder.path(), "broker_1", &SecretFiles::default()).unwrap();
    let text = render(&settings(&spec, &options(), Some(&secrets)).unwrap());
    text.replace(&secrets.path("").display().to_string(), "")
}
#[test]
fn a_broker_listens_on_each_address_of_its_host() {
    let text = rendered(&["10.0.0.2", "10.0.1.2"], &[]);
    assert!(
        text.contains("listener 7648 10.0.0.2\nlistener 7648 10.0.1.2\n"),
        "{text}"
    );
    assert!(!text.contains("connection"), "{text}");
}
#[test]
fn a_broker_drops_beyond_the_queue_unless_a_stream_blocks() {
    let limit = |congestion| rendered_for(congestion, &["10.0.0.2"], &[]);
    assert!(limit(Congestion::Drop).contains("max_queued_messages 0\nmax_queued_bytes 4000\n"));
    assert!(limit(Congestion::Block).contains("max_queued_messages 0\nmax_queued_bytes 0\n"));
}
#[test]
fn of_two_linked_brokers_the_later_one_alone_has_a_bridge() {
    let text = rendered(&["10.0.1.2"], &[broker(0, [10, 0, 1, 1]), broker(2, [10, 0, 1, 3])]);
    let bridge = "connection t_1_0\naddress 10.0.1.1:7649\ntopic # both 2\ntry_private true\n\
                  bridge_protocol_version mqttv311\n";
    assert!(text.ends_with(bridge), "{text}");
}
#[test]
fn a_bridge_of_version_5_is_refused_where_messages_in_flight_have_no_bound() {
    let resolved = |profile: &str, protocol: &str| {
        let set = [("bridge_protocol".to_owned(), OptionValue::Text(protocol.into()))];
        Options::resolve(&crate::description::describe(), profile, &set.into()).unwrap()
    };
    let accepted = |profile, protocol| accept_bridges(&resolved(profile, protocol)).is_ok();
    assert_eq!(
        [
            accepted("tuned", "mqttv50"),
            accepted("default", "mqttv50"),
            accepted("tuned", "mqttv311")
        ],
        [false, true, true]
    );
}
#[test]
fn brokers_count_their_ports_from_the_end() {
    let rendezvous = Rendezvous {
        name: "t".into(),
        token: 1,
        domain: 0,
        first_port: 7550,
        ports: 100,
        folder: "/tmp".into(),
    };
    assert_eq!((port(&rendezvous, 0), port(&rendezvous, 1)), (7649, 7648));
}

#[test]
fn an_encrypted_broker_demands_a_certificate_at_every_address_and_shows_one_over_its_bridge() {
    let text = secured(SecurityLevel::Encrypted);
    let demanded = "cafile authority.pem\ncertfile certificate.pem\nkeyfile key.pem\nrequire_certificate true\n\
                    use_identity_as_username true\ntls_version tlsv1.3\nciphers_tls1.3 TLS_AES_256_GCM_SHA384\n";
    let listeners = format!("listener 7648 10.0.1.2\n{demanded}listener 7648 10.0.2.2\n{demanded}connection t_1_0\n");
    assert!(text.contains(&listeners), "{text}");
    assert!(
        text.contains("allow_anonymous false\n") && text.contains("acl_file rules\n"),
        "{text}"
    );
    let shown = "bridge_cafile authority.pem\nbridge_certfile certificate.pem\nbridge_keyfile key.pem\n\
                 bridge_tls_version tlsv1.3\n";
    assert!(text.ends_with(shown), "{text}");
    assert!(!text.contains("password"), "{text}");
}

#[test]
fn an_authenticated_broker_asks_for_passwords_and_has_one_for_its_bridge() {
    let text = secured(SecurityLevel::Authenticated);
    assert!(
        text.contains("allow_anonymous false\n") && text.contains("acl_file rules\npassword_file passwords\n"),
        "{text}"
    );
    assert!(
        text.ends_with("remote_username broker-1\nremote_password drawn\n"),
        "{text}"
    );
    assert!(!text.contains("cafile"), "{text}");
}
