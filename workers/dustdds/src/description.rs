//! What this worker says of itself: capabilities, options with the values that the library is shipped with, profiles.

use std::collections::BTreeMap;

use middlemark_contract::{
    Axis, CONTRACT_VERSION, Capabilities, Congestion, Deliveries, Delivery, DeliveryDescription, Description,
    Dissector, Durability, HistoryKind, LackingDelivery, LackingSecurity, Library, Matching, OptionDescription,
    Pattern, PortHolders, Profile, Reliability, Serialisation,
};
use middlemark_runtime::options::{boolean, integer};

use crate::limits::{FRAGMENT_BYTES, SMALLEST_FRAGMENT_BYTES};

/// The crate's version; the library has no call that reports it.
const VERSION: &str = "0.16.0";

/// What came each time it was tried, in fragments of 65000 B and with a receive buffer of 4 MiB.
const LARGEST_MESSAGE_BYTES: u64 = 4 << 20;

/// `MAX_DATAGRAM_SIZE` less room for the headers: the largest that `set_fragment_size` says it takes.
const LARGEST_FRAGMENT_BYTES: i64 = 65_000;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "dustdds".into(),
        title: "Dust DDS".into(),
        summary: "RTPS over UDP, also within a process.".into(),
        library: Library {
            name: "dust_dds".into(),
            version: VERSION.into(),
            origin: "crate dust_dds".into(),
            released: None,
        },
        capabilities: capabilities(),
        protocols: vec![middlemark_dds::protocol()],
        dissectors: vec![Dissector {
            name: "rtps".into(),
            remark: None,
        }],
        services: Vec::new(),
        ports: PortHolders::Nothing,
        profiles: BTreeMap::from([("default".into(), shipped()), ("tuned".into(), tuned())]),
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
        transports: vec!["udp".into()],
        reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
        durabilities: vec![Durability::Volatile, Durability::TransientLocal],
        // With keep_last a reliable writer overwrites nothing that is not acknowledged.
        histories: vec![HistoryKind::KeepAll],
        congestion: vec![Congestion::Block, Congestion::Drop],
        deliveries: deliveries(),
        matching: Some(Matching::Subscriber {
            how: "the writer's status PUBLICATION_MATCHED, by a listener".into(),
        }),
        largest_message_bytes: LARGEST_MESSAGE_BYTES,
        serialisations: vec![Serialisation::Cdr],
        zero_copy: false,
        same_process: true,
        security: vec![],
        lacking_security: LackingSecurity::of_all("Dust DDS has no DDS Security"),
        lacking_pause: None,
        between_hosts: true,
    }
}

fn deliveries() -> Deliveries {
    let described = |delivery, source| DeliveryDescription::new(delivery, how(delivery), source);
    Deliveries {
        default: Delivery::OwnThread,
        has: vec![
            described(
                Delivery::OwnThread,
                "Dust DDS's examples ping, pong and hello_world_subscriber, whose thread waits and takes",
            ),
            described(
                Delivery::Polling,
                "the subscriber of Dust DDS's README, which reads without waiting",
            ),
        ],
        lacks: vec![LackingDelivery::new(
            Delivery::LibraryThread,
            "its listeners run on the one thread that does all of the library's work: an answer from there would wait for itself",
        )],
    }
}

/// How a reader's messages are taken, in words.
pub(crate) fn how(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::OwnThread | Delivery::LibraryThread => {
            "A thread for each reader sleeps until a listener wakes it, and takes messages."
        }
        Delivery::Polling => "A thread for each reader takes messages again and again without sleep.",
    }
}

fn shipped() -> Profile {
    Profile::new("As shipped: fragments of 1344 B, the kernel's socket buffers, an announcement every 5 s.")
}

fn tuned() -> Profile {
    Profile::new("As shipped: Dust DDS's makers advise nothing else.")
        .leaves(
            Axis::WakeUp,
            "a listener wakes the thread that takes: the wait set of its examples asks the library's thread four times for a \
             message",
        )
        .leaves(
            Axis::Copies,
            "a write takes over the message; there are neither loans nor shared memory",
        )
        .leaves(
            Axis::Discovery,
            "multicast, as shipped; it can't be told of peers",
        )
        .leaves(
            Axis::Buffers,
            "fragments of 1344 B and the kernel's receive buffer, as shipped; its example sets both and advises no values",
        )
        .leaves(Axis::Batching, "each write sends; there is no setting of it")
        .leaves(Axis::Other, "heartbeats every 200 ms are not a setting")
}

fn options() -> Vec<OptionDescription> {
    vec![
        integer(
            FRAGMENT_BYTES,
            SMALLEST_FRAGMENT_BYTES..=LARGEST_FRAGMENT_BYTES,
            1344,
            "set_fragment_size: larger samples are sent in pieces of this size, at most 256 of them.",
        ),
        integer(
            "socket_receive_buffer_bytes",
            0..=(1 << 30),
            0,
            "SO_RCVBUF of the socket for messages as asked of the kernel, which grants at most rmem_max; 0: the system's default.",
        ),
        integer(
            "announcement_interval_ms",
            100..=3_600_000,
            5000,
            "participant_announcement_interval: how often a participant announces itself.",
        ),
        boolean(
            "type_information",
            true,
            "enable_type_information: whether writers and readers are announced with their types, not with the names of these alone.",
        ),
    ]
}
