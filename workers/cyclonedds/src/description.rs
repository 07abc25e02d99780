//! What this worker says of itself: capabilities, options with the values that the library is shipped with.

use middlemark_contract::{
    CONTRACT_VERSION, Capabilities, Congestion, Description, Dissector, Durability, HistoryKind, Library, Matching,
    OptionDescription, Pattern, PortHolders, Reliability, Serialisation,
};
use middlemark_runtime::options::{boolean, choice, integer};

use crate::configuration::SIZES;
use crate::profiles::profiles;

/// The largest message: what a serialised sample may have by `Internal/MaxSampleSize` is 2 GiB, this is what is tested.
const LARGEST_MESSAGE_BYTES: u64 = 64 << 20;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "cyclonedds".into(),
        title: "Eclipse Cyclone DDS".into(),
        summary: "RTPS over UDP between processes, delivered directly within a process.".into(),
        library: Library {
            name: "ddsc".into(),
            version: middlemark_dds::version(),
            origin: env!("MIDDLEMARK_CYCLONEDDS_ORIGIN").into(),
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
        transports: vec!["udp".into()],
        reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
        durabilities: vec![Durability::Volatile, Durability::TransientLocal],
        histories: vec![HistoryKind::KeepLast, HistoryKind::KeepAll],
        congestion: vec![Congestion::Block, Congestion::Drop],
        deliveries: middlemark_dds::deliveries(
            "Cyclone DDS's ddsperf and its example throughput; its first, helloworld, looks every 20 ms",
            "Cyclone DDS's example roundtrip, and ddsperf with the mode waitset",
            "Cyclone DDS's example helloworld and ddsperf with the mode polling, which look so, if less often",
        ),
        matching: Some(Matching::Subscriber {
            how: "the writer's status PUBLICATION_MATCHED, by a listener".into(),
        }),
        largest_message_bytes: LARGEST_MESSAGE_BYTES,
        serialisations: vec![Serialisation::Cdr],
        // Without a PSMX plugin (iceoryx) a loan is ordinary memory that the write serialises and frees: no copy is saved.
        zero_copy: false,
        same_process: true,
        security: middlemark_dds::security::levels(Some(
            "Participants authenticate each other within discovery, and no status of DDS tells of its steps.",
        )),
        lacking_security: vec![],
        lacking_pause: None,
        between_hosts: true,
    }
}

fn options() -> Vec<OptionDescription> {
    let choices = [
        choice(
            "discovery",
            &["multicast", "peers"],
            "multicast",
            "Participants find each other by multicast, or look for each other at the addresses of the trial's hosts, without it.",
        ),
        choice(
            "allow_multicast",
            &["default", "true", "spdp", "false"],
            "default",
            "General/AllowMulticast: for discovery and data as the interface suggests (neither with discovery: peers), both, discovery alone, neither.",
        ),
    ];
    let batching = boolean(
        "write_batching",
        false,
        "dds_qset_writer_batching: messages of an unthrottled stream share a packet; a stream with pauses sends each, as a packet that is not full would wait for more.",
    );
    let sizes = SIZES.iter().map(|size| {
        integer(
            size.option,
            1024..=size.largest_bytes,
            size.shipped_bytes,
            &size.sentence(),
        )
    });
    choices
        .into_iter()
        .chain([
            batching,
            middlemark_dds::security::option(),
            middlemark_dds::wait_set::option(),
        ])
        .chain(sizes)
        .collect()
}
