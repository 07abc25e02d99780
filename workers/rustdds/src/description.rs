//! What this worker says of itself: capabilities, options with the values that the library is shipped with, profiles.

use std::collections::BTreeMap;

use middlemark_contract::{
    Axis, CONTRACT_VERSION, Capabilities, Congestion, Deliveries, Delivery, DeliveryDescription, Description,
    Dissector, Durability, HistoryKind, LackingDelivery, LackingSecurity, Library, Matching, OptionDescription,
    Pattern, PortHolders, Profile, Reliability, Serialisation,
};
use middlemark_runtime::options::{boolean, integer};

/// The crate's version; the library has no call that reports it.
const VERSION: &str = "0.15.1";

/// What came each time it was tried. What is lost of a larger one is repeated in eight fragments of 256 B every 10 ms.
const LARGEST_MESSAGE_BYTES: u64 = 4 << 20;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "rustdds".into(),
        title: "RustDDS".into(),
        summary: "RTPS over UDP, between processes.".into(),
        library: Library {
            name: "rustdds".into(),
            version: VERSION.into(),
            origin: "crate rustdds, without its default feature mio_06".into(),
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
        // With keep_last a reliable writer overwrites nothing that is not acknowledged, and a reader keeps 64 whatever the depth.
        histories: vec![HistoryKind::KeepAll],
        congestion: vec![Congestion::Block, Congestion::Drop],
        deliveries: deliveries(),
        matching: Some(Matching::Subscriber {
            how: "the participant's event RemoteReaderMatched, for which a thread of the worker waits".into(),
        }),
        largest_message_bytes: LARGEST_MESSAGE_BYTES,
        serialisations: vec![Serialisation::Cdr],
        zero_copy: false,
        // At 127.0.0.1 a participant has no address of itself, so that its writers don't reach its readers.
        same_process: false,
        security: vec![],
        lacking_security: LackingSecurity::of_all("RustDDS is built without its feature `security`"),
        lacking_pause: Some(
            "RustDDS ends its event loop where a wait is interrupted, as it is by a pause: the participant then neither sends \
             nor receives"
                .into(),
        ),
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
                "RustDDS's ddsperf, whose executor sleeps so; the first example of its documentation takes without waiting",
            ),
            described(
                Delivery::Polling,
                "the first example of RustDDS's documentation, which takes without waiting",
            ),
        ],
        lacks: vec![LackingDelivery::new(
            Delivery::LibraryThread,
            "RustDDS has no listeners: its readers wake whoever waits for them",
        )],
    }
}

/// How a reader's messages are taken, in words.
pub(crate) fn how(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::OwnThread | Delivery::LibraryThread => {
            "A thread for each reader sleeps until the library's waker wakes it, and takes messages."
        }
        Delivery::Polling => "A thread for each reader takes messages again and again without sleep.",
    }
}

fn shipped() -> Profile {
    Profile::new("As shipped: 8 MiB asked of the sockets, loopback between participants of one host.")
}

fn tuned() -> Profile {
    Profile::new("As shipped: RustDDS's makers advise nothing else.")
        .leaves(
            Axis::WakeUp,
            "a thread that the reader's waker wakes, as shipped, is how its ddsperf waits",
        )
        .leaves(
            Axis::Copies,
            "a write takes over the bytes that the worker has serialised; there are neither loans nor shared memory",
        )
        .leaves(
            Axis::Discovery,
            "multicast and 127.0.0.1, as shipped; it can't be told of peers",
        )
        .leaves(
            Axis::Buffers,
            "8 MiB are asked of the kernel, as shipped; its documentation advises to raise rmem_max and wmem_max alone",
        )
        .leaves(
            Axis::Batching,
            "small messages that wait to be sent share a packet, as shipped; there is no setting of it",
        )
        .leaves(Axis::Other, "it has no other settings")
}

fn options() -> Vec<OptionDescription> {
    vec![
        boolean(
            "same_host_loopback",
            true,
            "Whether participants of one host look for each other at 127.0.0.1 too, and send to each other there.",
        ),
        integer(
            "socket_receive_buffer_bytes",
            4096..=(1 << 30),
            8 << 20,
            "SO_RCVBUF as asked of the kernel, which grants at most rmem_max.",
        ),
        integer(
            "socket_send_buffer_bytes",
            4096..=(1 << 30),
            8 << 20,
            "SO_SNDBUF as asked of the kernel, which grants at most wmem_max.",
        ),
    ]
}
