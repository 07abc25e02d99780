//! What the worker says of UDP.

use middlemark_contract::{
    Axis, CONTRACT_VERSION, Capabilities, Congestion, Description, Dissector, Durability, HistoryKind, LackingSecurity,
    Library, Matching, Pattern, PortHolders, Profile, Reliability, Serialisation,
};
use middlemark_sockets::{NO_ZERO_COPY, deliveries, kernel_release, shared_options, tuned};

/// The largest payload of one IPv4 datagram: 65535 less 20 for IP and 8 for UDP.
const LARGEST_MESSAGE_BYTES: u64 = 65_507;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "udp".into(),
        title: "UDP sockets".into(),
        summary: "One datagram a message over connected UDP sockets, received by one blocking thread a subscriber."
            .into(),
        library: Library {
            name: "none".into(),
            version: kernel_release(),
            origin: "the running kernel".into(),
            released: None,
        },
        capabilities: Capabilities {
            patterns: vec![
                Pattern::Periodic,
                Pattern::Burst,
                Pattern::Unthrottled,
                Pattern::PingPong,
            ],
            transports: vec!["udp".into()],
            reliabilities: vec![Reliability::BestEffort],
            durabilities: vec![Durability::Volatile],
            histories: vec![HistoryKind::KeepAll],
            // A receiver that is slow is not waited for: what its buffer has no room for is gone.
            congestion: vec![Congestion::Drop],
            deliveries: deliveries(),
            matching: Some(Matching::Never {
                reason: "connecting a datagram socket asks nobody, and an absent receiver shows only by what is lost"
                    .into(),
            }),
            largest_message_bytes: LARGEST_MESSAGE_BYTES,
            serialisations: vec![Serialisation::Plain, Serialisation::Cdr, Serialisation::Protobuf],
            zero_copy: false,
            same_process: true,
            security: vec![],
            lacking_security: LackingSecurity::of_all(
                "UDP has neither form: nobody says who sends a datagram, and DTLS is not part of this worker",
            ),
            lacking_pause: None,
            between_hosts: true,
        },
        protocols: vec![],
        dissectors: vec![Dissector {
            name: "udp".into(),
            remark: None,
        }],
        services: vec![],
        ports: PortHolders::Subscribers,
        profiles: [
            ("default".into(), Profile::new("The kernel's own settings.")),
            ("tuned".into(), tuned_profile()),
        ]
        .into(),
        options: shared_options(),
    }
}

fn tuned_profile() -> Profile {
    let summary = "Receive and send buffers as large as the kernel grants, up to 4 MiB.";
    let source = "udp(7), socket(7): what finds no room in a buffer is lost";
    tuned(summary, NO_ZERO_COPY, ["so_rcvbuf_bytes", "so_sndbuf_bytes"], source)
        .leaves(Axis::Batching, "a message is a datagram, and is sent at once")
        .leaves(Axis::Other, "there is no other setting for speed")
}
