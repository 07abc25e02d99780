//! What the worker says of TCP.

use middlemark_contract::{
    Axis, CONTRACT_VERSION, Capabilities, Congestion, Description, Dissector, Durability, HistoryKind, LackingSecurity,
    Library, Matching, OptionDescription, Pattern, PortHolders, Profile, Reliability, SecurityDescription,
    SecurityLevel, Serialisation,
};
use middlemark_runtime::options::{boolean, choice};
use middlemark_sockets::{NO_ZERO_COPY, deliveries, kernel_release, shared_options, tuned};

/// The stream has no limit of its own; the trials end at 64 MiB.
const LARGEST_MESSAGE_BYTES: u64 = 64 << 20;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "tcp".into(),
        title: "TCP sockets".into(),
        summary: "Messages of one size on one TCP connection from each publisher to each subscriber.".into(),
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
                Pattern::RequestResponse,
            ],
            transports: vec!["tcp".into()],
            reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
            durabilities: vec![Durability::Volatile],
            histories: vec![HistoryKind::KeepAll],
            congestion: vec![Congestion::Block, Congestion::Drop],
            deliveries: deliveries(),
            matching: Some(Matching::Subscriber {
                how: "a connection that the subscriber's listening socket accepts".into(),
            }),
            largest_message_bytes: LARGEST_MESSAGE_BYTES,
            serialisations: vec![Serialisation::Plain, Serialisation::Cdr, Serialisation::Protobuf],
            zero_copy: false,
            same_process: true,
            security: vec![SecurityDescription::by_credentials(
                SecurityLevel::Encrypted,
                "TLS 1.3 (rustls on ring: AES-256-GCM, X25519, certificates on ECDSA P-256 at both ends); a certificate names \
                 the streams that its application may publish and subscribe to.",
            )],
            lacking_security: vec![LackingSecurity::of(
                SecurityLevel::Authenticated,
                "TLS as rustls has it knows no cipher suite without encryption",
            )],
            lacking_pause: None,
            between_hosts: true,
        },
        protocols: vec![],
        dissectors: vec![Dissector {
            name: "tcp".into(),
            remark: None,
        }],
        services: vec![],
        ports: PortHolders::Subscribers,
        profiles: [("default".into(), default_profile()), ("tuned".into(), tuned_profile())].into(),
        options: shared_options().into_iter().chain(own_options()).collect(),
    }
}

fn default_profile() -> Profile {
    Profile::new("The kernel's own settings, without Nagle's algorithm, as every messaging library sets it.")
}

fn tuned_profile() -> Profile {
    let summary = "Large buffers from the first message on, and CUBIC, which does not pace.";
    let source = "tcp(7): they switch the kernel's own sizing off, which begins small and grows with use";
    tuned(summary, NO_ZERO_COPY, ["so_rcvbuf_bytes", "so_sndbuf_bytes"], source)
        .leaves(Axis::Batching, "Nagle's algorithm is off as shipped")
        .sets(
            Axis::Other,
            [("tcp_congestion", "cubic".into())],
            "Linux, tcp_bbr.c: BBR, where a distribution sets it, paces by timers, a cost without use on one's own link",
        )
}

fn own_options() -> [OptionDescription; 2] {
    [
        boolean(
            "tcp_nodelay",
            true,
            "Whether a small message goes out at once (TCP_NODELAY) or may wait for an acknowledgement (Nagle).",
        ),
        choice(
            "tcp_congestion",
            &["system", "cubic", "reno", "bbr"],
            "system",
            "The congestion control; 'system' leaves the one that the kernel is set to.",
        ),
    ]
}
