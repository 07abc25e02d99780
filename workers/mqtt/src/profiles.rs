//! The profiles: as shipped, and tuned for latency or throughput as Mosquitto's and rumqttc's texts advise, axis by axis.

use std::collections::BTreeMap;

use middlemark_contract::{Axis, Profile};

pub(crate) fn profiles() -> BTreeMap<String, Profile> {
    let default = Profile::new(
        "As shipped: Nagle's algorithm on at broker and client, 20 messages in flight for each subscriber, 100 in \
         flight and 10 queued at each publisher.",
    );
    [
        ("default", default),
        (
            "tuned",
            latency("For latency, as mosquitto.conf(5) describes its settings; the same at the client: tuned_latency."),
        ),
        (
            "tuned_latency",
            latency("For latency, as mosquitto.conf(5) describes its settings; the same at the client."),
        ),
        (
            "tuned_throughput",
            throughput("As tuned, with Nagle's algorithm on: small messages share packets, and answers wait for them."),
        ),
    ]
    .map(|(name, profile)| (name.to_owned(), profile))
    .into()
}

/// What is advised in either case.
fn common(summary: &str) -> Profile {
    Profile::new(summary)
        .leaves(
            Axis::WakeUp,
            "rumqttc has one way alone: its event loop on the application's thread",
        )
        .leaves(
            Axis::Copies,
            "every message passes the broker's sockets; the client has no loans",
        )
        .leaves(
            Axis::Discovery,
            "nobody is looked for: the client is given its broker's address",
        )
        .sets(
            Axis::Buffers,
            [("broker_max_inflight_messages", 0.into())],
            // Order is kept on one connection anyway.
            "mosquitto.conf(5), max_inflight_messages: \"Set to 0 for no maximum.\"",
        )
        .sets(
            Axis::Buffers,
            [("client_queue_messages_per_stream", 100.into())],
            "rumqttc, MqttOptions::set_inflight: as many may wait to be sent as may be unacknowledged by default",
        )
        .leaves(Axis::Other, "persistence and retained messages are off as shipped")
}

fn latency(summary: &str) -> Profile {
    common(summary)
        .sets(
            Axis::Batching,
            [("broker_tcp_nodelay", true.into())],
            "mosquitto.conf(5), set_tcp_nodelay: \"reducing latency of some messages at potentially increasing the number \
             of TCP packets being sent\"",
        )
        .sets(
            Axis::Batching,
            [("client_tcp_nodelay", true.into())],
            "rumqttc, NetworkOptions::set_tcp_nodelay: the client's side of the same",
        )
}

fn throughput(summary: &str) -> Profile {
    common(summary).leaves(
        Axis::Batching,
        "Nagle's algorithm, as shipped, keeps the number of packets low (mosquitto.conf(5), set_tcp_nodelay)",
    )
}
