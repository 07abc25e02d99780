use middlemark_contract::{OptionValue, Qos};
use middlemark_runtime::ChannelEndpoint;

use super::*;
use crate::description;

fn channel(reliability: Reliability, publishing: &str, subscribing: &[&str], size_bytes: usize) -> Channel {
    let endpoint = |address: &str| ChannelEndpoint {
        application: address.into(),
        socket: format!("{address}:20000").parse().unwrap(),
    };
    Channel {
        topic: "trial_0_camera_0_front".into(),
        number: 0,
        size_bytes,
        recorded: None,
        rate_hz: 20.0,
        qos: Qos {
            reliability,
            ..Qos::BEST_EFFORT
        },
        publishers: vec![endpoint(publishing)],
        subscribers: subscribing.iter().map(|address| endpoint(address)).collect(),
        index: 0,
    }
}

fn options(overrides: &[(&str, OptionValue)]) -> Options {
    let overrides = overrides
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    Options::resolve(&description::describe(), "default", &overrides).unwrap()
}

fn transport(word: &str) -> Options {
    options(&[("transport", OptionValue::Text(word.into()))])
}

fn refused(result: Result<Carriage, Refusal>) -> String {
    result.unwrap_err().capability
}

#[test]
fn within_a_host_messages_go_over_local_sockets_whatever_their_reliability() {
    for reliability in [Reliability::Reliable, Reliability::BestEffort] {
        let channel = channel(reliability, "127.0.0.1", &["127.0.0.1"], 4 << 20);
        assert_eq!(accept(&channel, &transport("default")), Ok(Carriage::Local));
        assert_eq!(accept(&channel, &transport("local")), Ok(Carriage::Local));
    }
}

#[test]
fn between_hosts_reliability_decides() {
    let reliable = channel(Reliability::Reliable, "10.0.0.1", &["10.0.0.2"], 4 << 20);
    let best_effort = channel(Reliability::BestEffort, "10.0.0.1", &["10.0.0.2"], 1400);
    assert_eq!(accept(&reliable, &transport("default")), Ok(Carriage::Tcp));
    assert_eq!(accept(&best_effort, &transport("default")), Ok(Carriage::Udp));
    assert_eq!(accept(&best_effort, &transport("tcp")), Ok(Carriage::Tcp));
}

#[test]
fn a_network_transport_within_a_host_is_refused() {
    let same = channel(Reliability::BestEffort, "127.0.0.1", &["127.0.0.1"], 64);
    let both = channel(Reliability::BestEffort, "10.0.0.1", &["10.0.0.1", "10.0.0.2"], 64);
    for word in ["tcp", "udp"] {
        let refusal = accept(&same, &transport(word)).unwrap_err();
        assert_eq!(refusal.capability, "option");
        assert!(
            refusal.reason.starts_with("transport needs two hosts"),
            "{}",
            refusal.reason
        );
        assert_eq!(refused(accept(&both, &transport(word))), "option");
    }
}

#[test]
fn local_sockets_between_hosts_are_refused() {
    let channel = channel(Reliability::Reliable, "10.0.0.1", &["10.0.0.2"], 64);
    assert_eq!(refused(accept(&channel, &transport("local"))), "option");
}

#[test]
fn udp_is_refused_where_reliable_is_asked() {
    let channel = channel(Reliability::Reliable, "10.0.0.1", &["10.0.0.2"], 64);
    assert_eq!(refused(accept(&channel, &transport("udp"))), "reliability");
}

#[test]
fn what_exceeds_a_udp_message_needs_segments() {
    let channel = channel(
        Reliability::BestEffort,
        "10.0.0.1",
        &["10.0.0.2"],
        LARGEST_UDP_BYTES + 1,
    );
    let refusal = accept(&channel, &transport("udp")).unwrap_err();
    assert_eq!(refusal.capability, "size_bytes");
    assert!(
        refusal.reason.starts_with("1401 bytes on 'camera_0_front': "),
        "{}",
        refusal.reason
    );
    assert_eq!(
        accept(&channel, &options(&[("someip_tp", OptionValue::Boolean(true))])),
        Ok(Carriage::Udp)
    );
}

#[test]
fn a_queue_has_a_limit_unless_a_stream_blocks() {
    let drops = channel(Reliability::Reliable, "10.0.0.1", &["10.0.0.2"], 64);
    let blocks = Channel {
        qos: Qos::RELIABLE,
        ..drops.clone()
    };
    assert_eq!(queue_limit_bytes(std::slice::from_ref(&drops)), Some(16 << 20));
    assert_eq!(queue_limit_bytes(&[drops, blocks]), None);
}
