//! What this worker says of itself: capabilities, options with the values that the library is shipped with.

use middlemark_contract::{
    CONTRACT_VERSION, Capabilities, Congestion, Description, Dissector, Durability, HistoryKind, LackingSecurity,
    Library, Matching, OptionDescription, Pattern, PortHolders, Reliability, Serialisation,
};
use middlemark_runtime::options::{boolean, choice, integer};

use crate::configuration::{NUMBERS, RESEND_PERIOD_S, TRANSPORTS};
use crate::profiles::profiles;

/// What comes over RTPS as shipped, each time it was tried. With OpenDDS 3.13.3 a message of 8 MiB took longer than 30 s there.
const LARGEST_MESSAGE_BYTES: u64 = 4 << 20;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "opendds".into(),
        title: "OpenDDS".into(),
        summary: "RTPS over UDP, or its own protocol over TCP, between processes and within one.".into(),
        library: Library {
            name: "OpenDDS_Dcps".into(),
            version: middlemark_dds::version(),
            origin: env!("MIDDLEMARK_OPENDDS_ORIGIN").into(),
            released: None,
        },
        capabilities: capabilities(),
        protocols: vec![],
        dissectors: vec![Dissector {
            name: "rtps".into(),
            remark: Some("with transport tcp of discovery alone".into()),
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
        ],
        transports: TRANSPORTS.map(str::to_owned).into(),
        reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
        durabilities: vec![Durability::Volatile, Durability::TransientLocal],
        histories: vec![HistoryKind::KeepLast, HistoryKind::KeepAll],
        congestion: vec![Congestion::Block, Congestion::Drop],
        deliveries: middlemark_dds::deliveries(
            "OpenDDS's Developer's Guide, \"Getting Started\", whose Messenger takes in on_data_available",
            "OpenDDS's Developer's Guide, \"Conditions and Listeners\"",
            "DataReader::take, which never waits",
        ),
        matching: Some(Matching::Subscriber {
            how: "the writer's status PUBLICATION_MATCHED, by a listener".into(),
        }),
        largest_message_bytes: LARGEST_MESSAGE_BYTES,
        serialisations: vec![Serialisation::Cdr],
        // A writer has no loans: write serialises. Readers lend what was deserialised, which the worker uses.
        zero_copy: false,
        same_process: true,
        security: vec![],
        lacking_security: LackingSecurity::of_all(
            "OpenDDS has DDS Security only where it was built with it (`security=1`, on Xerces-C and OpenSSL), which this worker does not use",
        ),
        lacking_pause: None,
        between_hosts: true,
    }
}

fn options() -> Vec<OptionDescription> {
    let choices = [
        choice(
            "transport",
            &TRANSPORTS,
            "rtps_udp",
            "RTPS over UDP, or OpenDDS's own protocol over TCP; participants find each other by RTPS all the same.",
        ),
        boolean(
            "use_multicast",
            true,
            "Whether rtps_udp sends messages to a multicast group, even to one reader.",
        ),
        integer(
            "resend_period_s",
            1..=3600,
            RESEND_PERIOD_S,
            "ResendPeriod: how often a participant announces itself.",
        ),
    ];
    let numbers = NUMBERS
        .iter()
        .map(|number| integer(number.option, 0..=number.largest, number.shipped, &number.sentence()));
    choices.into_iter().chain(numbers).collect()
}
