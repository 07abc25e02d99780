//! What the worker says of its rings.

use middlemark_contract::{
    Axis, CONTRACT_VERSION, Capabilities, Congestion, Deliveries, Delivery, DeliveryDescription, Description,
    Durability, HistoryKind, LackingDelivery, LackingSecurity, Library, Matching, OptionDescription, Pattern,
    PortHolders, Profile, Reliability, SecurityDescription, SecurityLevel, Serialisation,
};
use middlemark_runtime::options::boolean;

/// A ring has no limit but the memory that it lies in; the trials end at 64 MiB.
const LARGEST_MESSAGE_BYTES: u64 = 64 << 20;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "shm".into(),
        title: "Shared-memory ring".into(),
        summary: "Messages written in place into a ring in shared memory, read in place, with futexes to wait.".into(),
        library: Library {
            name: "none".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            origin: "this project, on the running kernel's futexes".into(),
            released: None,
        },
        capabilities: Capabilities {
            patterns: vec![
                Pattern::Periodic,
                Pattern::Burst,
                Pattern::Unthrottled,
                Pattern::PingPong,
            ],
            transports: vec!["shared memory".into()],
            reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
            durabilities: vec![Durability::Volatile],
            histories: vec![HistoryKind::KeepAll],
            congestion: vec![Congestion::Block, Congestion::Drop],
            deliveries: deliveries(),
            matching: Some(Matching::Subscriber {
                how: "the first write that finds a reader attached to the ring".into(),
            }),
            largest_message_bytes: LARGEST_MESSAGE_BYTES,
            serialisations: vec![Serialisation::Plain],
            zero_copy: true,
            same_process: true,
            security: vec![SecurityDescription::by_user(
                "A ring's file is its user's and nobody else may open it (mode 0600), which is so without this level too; \
                 another user's file is refused.",
            )],
            lacking_security: vec![LackingSecurity::of(
                SecurityLevel::Encrypted,
                "nothing leaves the machine: messages lie in memory that other users can't open, and only root could read them there",
            )],
            lacking_pause: None,
            between_hosts: false,
        },
        protocols: vec![],
        dissectors: vec![],
        services: vec![],
        ports: PortHolders::Nothing,
        profiles: [("default".into(), default_profile()), ("tuned".into(), tuned_profile())].into(),
        options: options(),
    }
}

/// The deliveries of a ring.
pub(crate) fn deliveries() -> Deliveries {
    Deliveries {
        default: Delivery::OwnThread,
        has: vec![
            DeliveryDescription::new(
                Delivery::OwnThread,
                "A thread for each publisher's ring sleeps on its futex.",
                "futex(2), whose example waits so",
            ),
            DeliveryDescription::new(
                Delivery::Polling,
                "A thread for each subscriber looks at all its rings in turn.",
                "the usual way of rings that are made for latency, e.g. those of the LMAX Disruptor's BusySpinWaitStrategy",
            ),
        ],
        lacks: vec![LackingDelivery::new(Delivery::LibraryThread, "a ring has no threads")],
    }
}

fn default_profile() -> Profile {
    Profile::new("Receivers sleep until there is a message; written in place.")
}

fn tuned_profile() -> Profile {
    Profile::new("Receivers never sleep, at the price of a CPU for each; written in place.")
        .delivers(
            Delivery::Polling,
            "the usual way of rings that are made for latency, e.g. of the LMAX Disruptor's BusySpinWaitStrategy",
        )
        .leaves(Axis::Copies, "messages are written and read in place, as shipped")
        .leaves(Axis::Discovery, "a ring's name is given")
        .leaves(Axis::Buffers, "a ring has the size that the QoS asks for: queue")
        .leaves(Axis::Batching, "each message is handed over by itself")
        .leaves(Axis::Other, "there is no other setting for speed")
}

fn options() -> Vec<OptionDescription> {
    vec![boolean(
        "zero_copy",
        true,
        "Whether messages are written in place, or copied into the ring from the application's buffer.",
    )]
}
