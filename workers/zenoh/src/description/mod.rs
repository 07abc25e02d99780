//! What the worker says of itself: capabilities, the service, and the options as shipped; pure data.

mod profiles;

use middlemark_contract::{
    CONTRACT_VERSION, Capabilities, Congestion, Deliveries, Delivery, DeliveryDescription, Description, Dissector,
    Durability, HistoryKind, Library, Matching, OptionDescription, OptionValue, Pattern, Per, Reliability,
    SecurityDescription, SecurityLevel, Serialisation, ServiceNeed, When,
};
use middlemark_runtime::options::{boolean, choice, integer};

use crate::places::ROUTER;
use crate::settings;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "zenoh".into(),
        title: "Zenoh".into(),
        summary: "Sessions in mode peer over TCP, found by multicast scouting, large messages through shared memory."
            .into(),
        library: Library {
            name: "zenoh".into(),
            version: settings::version(),
            origin: "crate zenoh, features auth_usrpwd, transport_quic, transport_tcp, transport_tls, transport_udp, \
                     transport_unixsock-stream, shared-memory, unstable"
                .into(),
            released: None,
        },
        capabilities: capabilities(),
        protocols: vec![],
        dissectors: vec![Dissector {
            name: "zenoh".into(),
            remark: Some("of eclipse-zenoh/zenoh-dissector, a plugin for Wireshark; without it `tcp` or `udp`".into()),
        }],
        services: vec![ServiceNeed {
            library: None,
            missing: None,
            service: ROUTER.into(),
            per: Per::Network,
            when: vec![When {
                option: "mode".into(),
                values: vec![OptionValue::Text("client".into())],
            }],
            programs: Vec::new(),
        }],
        ports: crate::PORTS,
        profiles: profiles::profiles(),
        options: options(),
    }
}

fn capabilities() -> Capabilities {
    Capabilities {
        patterns: vec![
            Pattern::Periodic,
            Pattern::Burst,
            Pattern::Unthrottled,
            Pattern::PingPong,
            Pattern::RequestResponse,
        ],
        transports: TRANSPORTS.map(String::from).to_vec(),
        reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
        durabilities: vec![Durability::Volatile],
        histories: vec![HistoryKind::KeepAll],
        congestion: vec![Congestion::Block, Congestion::Drop],
        deliveries: deliveries(),
        matching: Some(Matching::Subscriber {
            how: "a matching listener of the publisher".into(),
        }),
        // Zenoh itself takes up to `transport/link/rx/max_message_size`, 1 GiB as shipped.
        largest_message_bytes: 64 << 20,
        serialisations: vec![Serialisation::Cdr, Serialisation::Protobuf],
        zero_copy: true,
        same_process: true,
        security: security(),
        lacking_security: Vec::new(),
        lacking_pause: None,
        between_hosts: true,
    }
}

/// Why a handshake is not told apart.
const HANDSHAKE_UNTOLD: &str = "Zenoh tells when a link is there (link_events_listener), and not when it began to make it; \
                                opening a session takes more than that.";

/// The levels of security, by Zenoh's own means.
fn security() -> Vec<SecurityDescription> {
    let described =
        |level, how: &str| SecurityDescription::by_credentials(level, how).with_untold_handshake(HANDSHAKE_UNTOLD);
    vec![
        described(
            SecurityLevel::Authenticated,
            "Through a router alone (mode: client): it knows each application by user and password (usrpwd), and lets it publish \
             and get what its own endpoints have (access control by user); messages are in the clear. Between peers who makes a \
             link would not know who accepts it.",
        ),
        described(
            SecurityLevel::Encrypted,
            "TLS 1.3 over TCP where messages go one way over a link, QUIC with transport: quic for all, between peers and \
             through routers (rustls on ring: AES-256-GCM, X25519, certificates on ECDSA P-256 at both ends); an application may \
             publish and get what its own endpoints have (access control by the common name of its certificate). Shared memory is \
             off, as what lies in it is in the clear.",
        ),
    ]
}

/// The deliveries of a subscriber.
pub(crate) fn deliveries() -> Deliveries {
    Deliveries {
        default: Delivery::LibraryThread,
        has: vec![
            DeliveryDescription::new(
                Delivery::LibraryThread,
                "A callback on the thread of Zenoh's that reads the link.",
                "Zenoh's examples z_sub (C and C++), z_pong and z_sub_thr (Rust too)",
            ),
            DeliveryDescription::new(
                Delivery::OwnThread,
                "A thread for each subscriber waits on Zenoh's FIFO channel.",
                "Zenoh's example z_sub in Rust, with the default handler",
            ),
            DeliveryDescription::new(
                Delivery::Polling,
                "A thread for each subscriber asks Zenoh's FIFO channel again and again (try_recv).",
                "Zenoh's example z_pull, which asks its channel so, if less often",
            ),
        ],
        lacks: vec![],
    }
}

const TRANSPORTS: [&str; 4] = ["tcp", "udp", "unixsock-stream", "quic"];

fn options() -> Vec<OptionDescription> {
    let mut options = session_options();
    options.extend(message_options());
    options.extend(link_options());
    options.extend(shared_memory_options());
    options
}

fn session_options() -> Vec<OptionDescription> {
    vec![
        choice(
            "mode",
            &["peer", "client"],
            "peer",
            "Sessions speak with each other (peer) or through a router (client).",
        ),
        choice(
            "transport",
            &TRANSPORTS,
            TRANSPORTS[0],
            "The protocol of the links; encrypted is TLS over tcp, or quic, which there is no other way.",
        ),
        choice(
            "discovery",
            &["multicast", "peers"],
            "multicast",
            "How peers find each other: multicast scouting and gossip, or endpoints given beforehand; a client is given its router.",
        ),
        integer(
            "scouting_delay_ms",
            0..=10_000,
            500,
            "How long a peer scouts at most before it opens, and how long a router waits (scouting/delay).",
        ),
        integer(
            "connect_retry_ms",
            1..=60_000,
            1000,
            "The first wait before a given endpoint is tried again (connect/retry/period_init_ms).",
        ),
    ]
}

fn message_options() -> Vec<OptionDescription> {
    vec![
        boolean(
            "contiguous",
            true,
            "A message that came in pieces is joined to one buffer (ZBytes::to_bytes) before it counts as received; false: its pieces are read where they lie.",
        ),
        boolean("express", false, "Messages are never held back for a batch."),
        boolean(
            "zero_copy",
            false,
            "Messages from shared_memory_threshold_bytes on are written in place, in shared memory of a pool.",
        ),
        integer(
            "loan_messages",
            1..=1024,
            4,
            "With zero_copy, how many messages each publisher's pool holds.",
        ),
    ]
}

fn link_options() -> Vec<OptionDescription> {
    vec![
        boolean(
            "lowlatency",
            false,
            "The low latency transport: no batches, no priorities, no splitting of messages.",
        ),
        boolean(
            "batching",
            true,
            "Small messages share a batch when the link is slower than they come.",
        ),
        integer(
            "batch_bytes",
            1024..=65_535,
            65_535,
            "The size of a batch (transport/link/tx/batch_size).",
        ),
        integer(
            "queue_batches",
            1..=16,
            2,
            "Batches that the queue of a link holds (transport/link/tx/queue/size/data).",
        ),
        integer(
            "rx_buffer_bytes",
            65_535..=268_435_456,
            65_535,
            "The receive buffer of a link (transport/link/rx/buffer_size).",
        ),
        integer(
            "socket_buffer_bytes",
            0..=268_435_456,
            0,
            "SO_SNDBUF and SO_RCVBUF of TCP links; 0: as the system has it. Zenoh has no such setting for UDP.",
        ),
    ]
}

fn shared_memory_options() -> Vec<OptionDescription> {
    vec![
        boolean(
            "shared_memory",
            true,
            "Between sessions on one host, payloads go through shared memory where Zenoh finds it worth it.",
        ),
        choice(
            "shared_memory_mode",
            &["lazy", "init"],
            "lazy",
            "Shared memory is set up with the first payload, or when the session opens.",
        ),
        integer(
            "shared_memory_threshold_bytes",
            1..=(1 << 30),
            3072,
            "Payloads from this size on go through shared memory.",
        ),
        integer(
            "shared_memory_pool_bytes",
            65_536..=(1 << 32),
            16_777_216,
            "Shared memory that payloads are copied into unless loaned; what does not fit goes over the link.",
        ),
    ]
}
