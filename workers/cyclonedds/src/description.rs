//! What this worker says of itself: capabilities, profiles, options with the values that the library is shipped with.

use std::collections::BTreeMap;

use middlemark_contract::{
    CONTRACT_VERSION, Capabilities, Congestion, Description, Dissector, Durability, HistoryKind, Library,
    OptionDescription, OptionValue, Pattern, Profile, Reliability,
};
use middlemark_runtime::options::{choice, integer};

use crate::configuration::SIZES;
use crate::shim;

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
            version: shim::version(),
            origin: env!("MIDDLEMARK_CYCLONEDDS_ORIGIN").into(),
        },
        capabilities: capabilities(),
        dissectors: vec![Dissector {
            name: "rtps".into(),
            remark: None,
        }],
        services: Vec::new(),
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
        ],
        transports: vec!["udp".into()],
        reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
        durabilities: vec![Durability::Volatile, Durability::TransientLocal],
        histories: vec![HistoryKind::KeepLast, HistoryKind::KeepAll],
        congestion: vec![Congestion::Block, Congestion::Drop],
        deliveries: middlemark_dds::deliveries(
            "Cyclone DDS's ddsperf and its example throughput",
            "Cyclone DDS's example roundtrip, and ddsperf with the mode waitset",
            "Cyclone DDS's example helloworld and ddsperf with the mode polling, which look so, if less often",
        ),
        largest_message_bytes: LARGEST_MESSAGE_BYTES,
        // Without a PSMX plugin (iceoryx) a loan is ordinary memory that the write serialises and frees: no copy is saved.
        zero_copy: false,
        same_process: true,
        security: Vec::new(),
        between_hosts: true,
    }
}

fn profiles() -> BTreeMap<String, Profile> {
    let default = Profile {
        summary: "As shipped: 14720 B messages, 1344 B fragments, 1 MiB asked of the socket, 500 kB high-water mark."
            .into(),
        delivery: None,
        options: BTreeMap::new(),
    };
    let tuned = Profile {
        summary: "As Cyclone DDS's README and performance scripts and the ROS 2 guide to DDS tuning advise.".into(),
        delivery: None,
        options: [
            // README.md, Run-time configuration: "Large values such as these typically improve performance over the
            // (current) default values on a loopback interface"; also examples/perfscript/perftest.
            ("max_message_size_bytes", 65_500),
            // examples/perfscript/quick-microbenchmark sets both sizes so.
            ("fragment_size_bytes", 65_000),
            // https://docs.ros.org/en/rolling/How-To-Guides/DDS-tuning.html, Cyclone DDS tuning: SocketReceiveBufferSize
            // 10MB (there as a minimum, with rmem_max raised; here as what is asked of the kernel).
            ("socket_receive_buffer_bytes", 10 << 20),
        ]
        .map(|(name, value)| (name.to_owned(), OptionValue::Integer(value)))
        .into(),
    };
    [("default".to_owned(), default), ("tuned".to_owned(), tuned)].into()
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
    let sizes = SIZES.iter().map(|size| {
        integer(
            size.option,
            1024..=size.largest_bytes,
            size.shipped_bytes,
            &size.sentence(),
        )
    });
    choices.into_iter().chain(sizes).collect()
}
