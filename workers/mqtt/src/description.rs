//! What this worker says of itself: capabilities, the broker it needs, options with the values as shipped.

use middlemark_contract::{
    CONTRACT_VERSION, Capabilities, Congestion, Deliveries, Delivery, DeliveryDescription, Description, Dissector,
    Durability, HistoryKind, LackingDelivery, Library, Matching, OptionDescription, Pattern, Per, PortHolders,
    Reliability, SecurityDescription, SecurityLevel, Serialisation, ServiceNeed,
};
use middlemark_runtime::options::{boolean, choice, integer};

use crate::broker::BrokerError;
use crate::broker::program;
use crate::profiles::profiles;

/// A packet's remaining length is at most 268 435 455 bytes (MQTT 3.1.1, 2.2.3); the longest topic is taken off.
const LARGEST_MESSAGE_BYTES: u64 = (256 << 20) - (128 << 10);

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "mqtt".into(),
        title: "MQTT (Mosquitto)".into(),
        summary: "MQTT 3.1.1, or 5 for requests and responses, over TCP from rumqttc to a Mosquitto broker and on to rumqttc.".into(),
        library: Library {
            name: "rumqttc".into(),
            version: env!("MIDDLEMARK_RUMQTTC_VERSION").into(),
            origin: "crate rumqttc, TLS by rustls; the broker is the system's mosquitto".into(),
            released: None,
        },
        capabilities: capabilities(),
        protocols: vec![],
        dissectors: vec![Dissector {
            name: "mqtt".into(),
            remark: Some("the broker's port is the trial's own: decode it as MQTT".into()),
        }],
        services: vec![ServiceNeed {
            service: "broker".into(),
            per: Per::Network,
            when: Vec::new(),
            library: program::library(),
            programs: program::find()
                .map(|path| path.display().to_string())
                .into_iter()
                .collect(),
            missing: program::find().is_none().then(|| BrokerError::Missing.to_string()),
        }],
        ports: PortHolders::Nothing,
        profiles: profiles(),
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
        transports: vec!["tcp".into(), "unix".into()],
        reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
        // A retained message is the topic's newest alone and outlives its publisher: that is not transient_local.
        durabilities: vec![Durability::Volatile],
        histories: vec![HistoryKind::KeepAll],
        congestion: vec![Congestion::Block, Congestion::Drop],
        deliveries: deliveries(),
        matching: Some(Matching::Service {
            how: "the broker's CONNACK; of subscribers MQTT tells a publisher nothing".into(),
        }),
        largest_message_bytes: LARGEST_MESSAGE_BYTES,
        serialisations: vec![Serialisation::Protobuf],
        // The buffer is moved to the client without a copy, but it is not the client's own memory.
        zero_copy: false,
        same_process: true,
        security: security(),
        lacking_security: Vec::new(),
        lacking_pause: None,
        between_hosts: true,
    }
}

/// The levels of security, by Mosquitto's own means.
fn security() -> Vec<SecurityDescription> {
    vec![
        SecurityDescription::by_credentials(
            SecurityLevel::Authenticated,
            "Each application has a user and a password, which it sends in the clear, and Mosquitto's rules (acl_file) let a \
             user write and read the topics of its own endpoints alone.",
        ),
        SecurityDescription::by_credentials(
            SecurityLevel::Encrypted,
            "TLS 1.3 between applications, broker and linked brokers (rustls on ring, OpenSSL at the broker: AES-256-GCM, \
             X25519, certificates on ECDSA P-256 at both ends); Mosquitto's rules (acl_file) let the name of a certificate write \
             and read the topics of its own endpoints alone.",
        ),
    ]
}

/// The deliveries of the client.
pub(crate) fn deliveries() -> Deliveries {
    Deliveries {
        default: Delivery::OwnThread,
        has: vec![DeliveryDescription::new(
            Delivery::OwnThread,
            "A thread for the connection waits in rumqttc's event loop, which reads and writes the socket on that thread.",
            "rumqttc's example syncpubsub, and the first lines of its documentation",
        )],
        lacks: vec![
            LackingDelivery::new(
                Delivery::LibraryThread,
                "rumqttc starts no thread: its event loop runs on the application's",
            ),
            LackingDelivery::new(
                Delivery::Polling,
                "rumqttc sees that its socket is readable only while a call waits (Connection::try_recv finds nothing else)",
            ),
        ],
    }
}

fn options() -> Vec<OptionDescription> {
    connection_options().into_iter().chain(message_options()).collect()
}

fn connection_options() -> Vec<OptionDescription> {
    vec![
        choice(
            "transport",
            &["tcp", "unix"],
            "tcp",
            "What joins applications and broker: TCP, or a Unix socket on one host.",
        ),
        choice(
            "bridge_protocol",
            &["mqttv311", "mqttv50"],
            "mqttv311",
            "Mosquitto's bridge_protocol_version: what linked brokers speak with each other.",
        ),
        boolean(
            "broker_tcp_nodelay",
            false,
            "Mosquitto's set_tcp_nodelay: Nagle's algorithm off towards clients.",
        ),
        boolean(
            "client_tcp_nodelay",
            false,
            "rumqttc's set_tcp_nodelay: Nagle's algorithm off towards the broker.",
        ),
    ]
}

fn message_options() -> Vec<OptionDescription> {
    vec![
        integer(
            "broker_max_inflight_messages",
            0..=65_535,
            20,
            "Mosquitto's max_inflight_messages: unacknowledged messages of level 1 and 2 for each subscriber; 0: no maximum.",
        ),
        boolean(
            "broker_queue_qos0_messages",
            false,
            "Mosquitto's queue_qos0_messages: whether level 0 is queued for a disconnected persistent client.",
        ),
        boolean(
            "broker_persistence",
            false,
            "Mosquitto's persistence: whether its queues are saved to disk.",
        ),
        integer(
            "client_inflight_messages",
            1..=65_535,
            100,
            "rumqttc's set_inflight: unacknowledged messages of level 1 and 2 at a publisher.",
        ),
        integer(
            "client_queue_messages_per_stream",
            1..=1_000_000,
            10,
            "rumqttc's channel between publish call and connection, so many for each stream that an application publishes; full, it \
             blocks or refuses as congestion asks.",
        ),
        integer(
            "client_send_buffer_bytes",
            0..=1 << 30,
            0,
            "rumqttc's set_tcp_send_buffer_size: room for what the broker has not yet taken; 0: as the kernel sizes it.",
        ),
        integer(
            "client_retry_ms",
            1..=60_000,
            1000,
            "How long the client waits before it tries again to reach a broker that is gone.",
        ),
        boolean(
            "retain",
            false,
            "Whether messages are published with the retain flag: the broker keeps each topic's newest.",
        ),
    ]
}
