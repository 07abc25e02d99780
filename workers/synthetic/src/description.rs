//! What the worker says of itself, and its options: the program.

use middlemark_contract::{
    Axis, CONTRACT_VERSION, Capabilities, Congestion, Deliveries, Delivery, DeliveryDescription, Description,
    Durability, HistoryKind, LackingDelivery, LackingSecurity, Library, Matching, OptionDescription, Pattern,
    PortHolders, Profile, Reliability, Serialisation,
};
use middlemark_runtime::options::{choice, integer};

const LARGEST_MESSAGE_BYTES: u64 = 64 << 20;

const MILLION: i64 = 1_000_000;
const MINUTE_NS: i64 = 60_000_000_000;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "synthetic".into(),
        title: "Synthetic".into(),
        summary: "A middleware with a known answer: delays, loss, duplicates and reordering by formula.".into(),
        library: Library {
            name: "none".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            origin: "this project".into(),
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
            serialisations: vec![
                Serialisation::Cdr,
                Serialisation::Protobuf,
                Serialisation::Someip,
                Serialisation::Plain,
            ],
            zero_copy: false,
            same_process: true,
            security: vec![],
            lacking_security: LackingSecurity::of_all(
                "its messages are those of a known answer, in memory of its user alone: there is nothing to protect",
            ),
            lacking_pause: None,
            between_hosts: false,
        },
        protocols: vec![],
        dissectors: vec![],
        services: vec![],
        ports: PortHolders::Nothing,
        profiles: [
            (
                "default".into(),
                Profile::new("A fixed delay of 1 ms, nothing lost, doubled or reordered."),
            ),
            ("tuned".into(), tuned()),
        ]
        .into(),
        options: options().into_iter().chain(first_messages()).collect(),
    }
}

fn tuned() -> Profile {
    Profile::new("As the default, and never asleep while a message is under way.")
        .sets(
            Axis::WakeUp,
            [("release_spin_ns", MINUTE_NS.into())],
            "this project: a release is exact where its thread never slept before it",
        )
        .leaves(Axis::Copies, "the answer is known, whoever copies")
        .leaves(Axis::Discovery, "a ring's name is given")
        .leaves(Axis::Buffers, "a ring has the size that the QoS asks for: queue")
        .leaves(Axis::Batching, "each message is released by itself")
        .leaves(Axis::Other, "everything else belongs to the program")
}

/// The deliveries of a link.
pub(crate) fn deliveries() -> Deliveries {
    Deliveries {
        default: Delivery::OwnThread,
        has: vec![
            DeliveryDescription::new(
                Delivery::OwnThread,
                "A thread for each link sleeps until shortly before the next release.",
                "this project, as the baseline shm does",
            ),
            DeliveryDescription::new(
                Delivery::Polling,
                "A thread for each link looks again and again for messages and for releases that are due.",
                "this project, as the baseline shm does",
            ),
        ],
        lacks: vec![LackingDelivery::new(Delivery::LibraryThread, "a ring has no threads")],
    }
}

fn options() -> Vec<OptionDescription> {
    vec![
        choice(
            "distribution",
            &["fixed", "uniform", "normal", "exponential", "bimodal"],
            "fixed",
            "How delays are distributed.",
        ),
        integer("seed", 0..=i64::MAX, 0, "Another seed, another fate for each message."),
        integer(
            "delay_ns",
            0..=MINUTE_NS,
            MILLION,
            "The delay, or where its distribution begins or has its middle.",
        ),
        integer(
            "jitter_ns",
            0..=MINUTE_NS,
            0,
            "The width of the delay's distribution, as its formula says.",
        ),
        per_million(
            "second_mode_per_million",
            "Bimodal: how many messages take jitter_ns longer.",
        ),
        per_million("loss_per_million", "How many messages are lost."),
        per_million("duplicate_per_million", "How many messages are released twice."),
        integer(
            "duplicate_delay_ns",
            0..=MINUTE_NS,
            0,
            "How much later than the first the second release is.",
        ),
        per_million(
            "reorder_per_million",
            "How many messages are held back by reorder_delay_ns.",
        ),
        integer(
            "reorder_delay_ns",
            0..=MINUTE_NS,
            0,
            "How long a message is held back, to be overtaken by later ones.",
        ),
        integer(
            "bandwidth_bits_per_s",
            0..=i64::MAX,
            0,
            "How fast each link passes messages on; 0: at once.",
        ),
        integer(
            "release_spin_ns",
            0..=MINUTE_NS,
            200_000,
            "How long before a release its thread stops sleeping and spins.",
        ),
    ]
}

/// When a stream's first messages come.
fn first_messages() -> [OptionDescription; 2] {
    [
        integer(
            "first_message_ns",
            0..=MINUTE_NS,
            0,
            "How long after a link began it releases its first message: what discovery takes elsewhere.",
        ),
        integer(
            "first_full_message_ns",
            0..=MINUTE_NS,
            0,
            "How long after the first message of full size was sent a link releases one of them.",
        ),
    ]
}

fn per_million(name: &str, summary: &str) -> OptionDescription {
    integer(name, 0..=MILLION, 0, summary)
}
