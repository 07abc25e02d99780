//! What this worker says of itself: capabilities, options with the values that the library is shipped with.

use middlemark_contract::{
    CONTRACT_VERSION, Capabilities, Congestion, Description, Dissector, Durability, HistoryKind, Library, Matching,
    OptionDescription, OptionValue, Pattern, Per, PortHolders, Reliability, Serialisation, ServiceNeed, When,
};
use middlemark_runtime::options::{boolean, choice, integer};
use middlemark_runtime::system_package;

use crate::discovery::{DISCOVERIES, SERVER};
use crate::profiles::profiles;
use crate::quality::MEMORY_POLICIES;
use crate::shim;
use crate::transport::{INTRAPROCESS, TRANSPORTS, available};

/// What is tested; the library's own limit is the memory of its histories.
const LARGEST_MESSAGE_BYTES: u64 = 64 << 20;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "fastdds".into(),
        title: "eProsima Fast DDS".into(),
        summary: "Shared memory between processes of a host, RTPS over UDP between hosts, calls within a process."
            .into(),
        library: Library {
            name: env!("MIDDLEMARK_FASTDDS_LIBRARY").into(),
            version: middlemark_dds::version(),
            origin: env!("MIDDLEMARK_FASTDDS_ORIGIN").into(),
            released: system_package::released(&["libfastrtps-dev", "libfastdds-dev"], &middlemark_dds::version()),
        },
        capabilities: capabilities(),
        protocols: vec![middlemark_dds::protocol()],
        dissectors: vec![Dissector {
            name: "rtps".into(),
            remark: None,
        }],
        services: vec![ServiceNeed {
            library: None,
            missing: None,
            programs: vec![],
            service: SERVER.into(),
            per: Per::Network,
            when: vec![When {
                option: "discovery".into(),
                values: vec![OptionValue::Text("server".into())],
            }],
        }],
        ports: PortHolders::Nothing,
        profiles: profiles(),
        options: choices().into_iter().chain(numbers()).collect(),
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
        transports: available().into_iter().map(str::to_owned).collect(),
        reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
        durabilities: vec![Durability::Volatile, Durability::TransientLocal],
        histories: vec![HistoryKind::KeepLast, HistoryKind::KeepAll],
        congestion: vec![Congestion::Block, Congestion::Drop],
        deliveries: middlemark_dds::deliveries(
            "Fast DDS's example hello_world (its HelloWorldExample before version 3), and its latency test",
            "Fast DDS's example hello_world with --waitset, configuration with --wait",
            "DataReader::take_next_sample, which never waits, as Fast DDS's documentation has it in \"Accessing received data\"",
        ),
        matching: Some(Matching::Subscriber {
            how: "the writer's status PUBLICATION_MATCHED, by a listener".into(),
        }),
        largest_message_bytes: LARGEST_MESSAGE_BYTES,
        serialisations: vec![Serialisation::Cdr],
        zero_copy: true,
        same_process: true,
        security: middlemark_dds::security::levels(shim::is_version_3().then_some(
            "Version 3 tells of participants by another listener in each of its releases, and this worker has none of them.",
        )),
        lacking_security: vec![],
        lacking_pause: None,
        between_hosts: true,
    }
}

fn choices() -> [OptionDescription; 8] {
    [
        choice(
            "transport",
            &TRANSPORTS,
            "default",
            "The built-in transports on the trial's interface, which in version 2 send best effort on one host over both shared memory and UDP, or one of them alone; data_sharing needs messages of a fixed size; large_data, from version 2.13 on, is TCP between hosts, shared memory on one, and UDP for discovery alone.",
        ),
        boolean(
            "zero_copy",
            false,
            "A type of fixed size, written in place in a loan and read where it lies; recorded sizes, and streams that block, are copied all the same.",
        ),
        choice(
            "discovery",
            &DISCOVERIES,
            "multicast",
            "Participants find each other by multicast, at the addresses of the trial's hosts, or through a discovery server.",
        ),
        choice(
            "intraprocess",
            &INTRAPROCESS,
            "full",
            "Whether endpoints of one process call each other directly, past every transport.",
        ),
        choice(
            "publish_mode",
            &["synchronous", "asynchronous"],
            "synchronous",
            "Whether the publish call sends, or a thread of the library.",
        ),
        choice(
            "memory_policy",
            &MEMORY_POLICIES,
            "preallocated",
            "history_memory_policy of writers and readers; data sharing needs one of the first two.",
        ),
        middlemark_dds::security::option(),
        middlemark_dds::wait_set::option(),
    ]
}

fn numbers() -> [OptionDescription; 6] {
    [
        integer(
            "heartbeat_period_ms",
            1..=60_000,
            3000,
            "A reliable writer's heartbeat period.",
        ),
        integer(
            "max_message_size_bytes",
            1500..=65_500,
            65_500,
            "maxMessageSize of the transports: larger messages are fragmented.",
        ),
        integer(
            "socket_send_buffer_bytes",
            0..=(1 << 30),
            0,
            "send_socket_buffer_size; 0: the system's default.",
        ),
        integer(
            "socket_receive_buffer_bytes",
            0..=(1 << 30),
            0,
            "listen_socket_buffer_size; 0: the system's default.",
        ),
        integer(
            "shm_segment_bytes",
            0..=(1 << 31),
            0,
            "segment_size of shared memory; 0: twice the larger socket buffer, or 512 KiB where that is the system's.",
        ),
        integer(
            "shm_port_queue",
            1..=(1 << 20),
            512,
            "port_queue_capacity: messages that a port of shared memory holds.",
        ),
    ]
}
