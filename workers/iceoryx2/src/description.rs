//! What the worker says of itself: capabilities, the options as shipped, and the two profiles.
//!
//! Pure data; each value that differs from what is shipped names its source.

use std::collections::BTreeMap;

use middlemark_contract::{
    Axis, CONTRACT_VERSION, Capabilities, Congestion, Deliveries, Delivery, DeliveryDescription, Description,
    Durability, HistoryKind, LackingDelivery, LackingSecurity, Library, Matching, OptionDescription, Pattern,
    PortHolders, Profile, Reliability, SecurityDescription, SecurityLevel, Serialisation,
};
use middlemark_runtime::options::{boolean, choice};

/// The crate's version; the library has no call that reports it.
const VERSION: &str = "0.10.0";

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "iceoryx2".into(),
        title: "iceoryx2".into(),
        summary: "Shared memory within one host; messages are written in place and a listener wakes the subscriber."
            .into(),
        library: Library {
            name: "iceoryx2".into(),
            version: VERSION.into(),
            origin: "crate iceoryx2, features std, console".into(),
            released: None,
        },
        capabilities: capabilities(),
        protocols: vec![],
        dissectors: vec![],
        services: vec![],
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
        transports: vec!["shared memory".into()],
        reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
        durabilities: vec![Durability::Volatile, Durability::TransientLocal],
        histories: vec![HistoryKind::KeepLast, HistoryKind::KeepAll],
        congestion: vec![Congestion::Block, Congestion::Drop],
        deliveries: deliveries(),
        matching: Some(Matching::Subscriber {
            how: "the first send that says it delivered to a subscriber".into(),
        }),
        // iceoryx2 has no limit of its own; each subscriber's buffer holds as many messages as its history.
        largest_message_bytes: 64 << 20,
        serialisations: vec![Serialisation::Plain],
        zero_copy: true,
        same_process: true,
        security: vec![SecurityDescription::by_user(
            "Its shared memory and sockets are its user's and nobody else may open them (mode 0600, in a folder of mode 0700), \
             which is so without this level too.",
        )],
        lacking_security: vec![LackingSecurity::of(
            SecurityLevel::Encrypted,
            "nothing leaves the machine: messages lie in memory that other users can't open, and iceoryx2 encrypts none of it",
        )],
        lacking_pause: None,
        between_hosts: false,
    }
}

/// The deliveries of a subscriber.
pub(crate) fn deliveries() -> Deliveries {
    Deliveries {
        default: Delivery::OwnThread,
        has: vec![
            DeliveryDescription::new(
                Delivery::OwnThread,
                "A thread for each subscriber waits for an event, which each publisher sends behind its message.",
                "iceoryx2's examples event and request_response_with_events, by a listener, and event_based_communication, by a \
                 wait set; its first, publish_subscribe, looks once a second",
            ),
            DeliveryDescription::new(
                Delivery::Polling,
                "A thread for each subscriber calls receive again and again; no events are sent.",
                "iceoryx2's benchmark publish-subscribe",
            ),
        ],
        lacks: vec![LackingDelivery::new(
            Delivery::LibraryThread,
            "iceoryx2 starts no thread: it calls nobody with a message",
        )],
    }
}

fn shipped() -> Profile {
    Profile::new(
        "As shipped (Config::default() of 0.10.0), with names and folder of the trial; data paired with events as in its \
         example event_based_communication.",
    )
}

fn tuned() -> Profile {
    Profile::new(
        "For latency, as its own benchmark does it: each subscriber polls, and gives way only to who else can run.",
    )
    .delivers(
        Delivery::Polling,
        "iceoryx2's benchmark publish-subscribe, whose subscriber polls without a pause; discussion 1222",
    )
    .leaves(Axis::Copies, "messages are written and read in place, as shipped")
    .leaves(
        Axis::Discovery,
        "services are found in the file system, without a delay to set",
    )
    .leaves(
        Axis::Buffers,
        "they have the size that the QoS asks for: depth or queue",
    )
    .leaves(Axis::Batching, "each message is handed over by itself")
    .leaves(Axis::Other, "it has nothing else to set for speed")
}

fn options() -> Vec<OptionDescription> {
    vec![
        choice(
            "wake_by",
            &["listener", "waitset"],
            "listener",
            "With delivery own_thread: a subscriber's thread waits for its listener, or for a wait set with its listener.",
        ),
        boolean(
            "zero_copy",
            true,
            "Messages are written in place in a loan; false: copied into it by the publish call.",
        ),
    ]
}
