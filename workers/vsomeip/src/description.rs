//! What this worker says of vSomeIP: capabilities, the service it needs, and options.
//!
//! Every default is the value of the library as shipped (`implementation/configuration/include/internal.hpp.in` and
//! `implementation/service_discovery/include/defines.hpp` of its source), except where the summary says otherwise.

use middlemark_contract::{
    CONTRACT_VERSION, Capabilities, Congestion, Deliveries, Delivery, DeliveryDescription, Description, Dissector,
    Durability, HistoryKind, LackingDelivery, LackingSecurity, Library, Matching, OptionDescription, Pattern, Per,
    Reliability, SecurityDescription, SecurityLevel, Serialisation, ServiceNeed,
};
use middlemark_runtime::options::{boolean, choice, integer};

use crate::configuration::ROUTING_MANAGER;
use crate::profiles::profiles;
use crate::shim;

/// The largest message that is measured. SOME/IP's length field and vSomeIP, whose payload sizes are unlimited as shipped,
/// would allow 4 GiB.
const LARGEST_MESSAGE_BYTES: u64 = 64 << 20;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "vsomeip".into(),
        title: "vSomeIP".into(),
        summary: "SOME/IP events from a publisher's service to its subscribers and methods of a server's, over Unix sockets within a host"
            .into(),
        library: Library {
            name: "vsomeip3".into(),
            version: shim::VERSION.into(),
            origin: "source bundled by the crate vsomeip-sys 0.6.0".into(),
            released: released(shim::VERSION),
        },
        capabilities: capabilities(),
        protocols: vec![],
        dissectors: vec![
            Dissector {
                name: "someip".into(),
                remark: Some(
                    "the ports are the trial's own: switch its heuristics on, or decode them as SOME/IP".into(),
                ),
            },
            Dissector {
                name: "someipsd".into(),
                remark: None,
            },
        ],
        services: vec![ServiceNeed {
            library: None,
            missing: None,
            service: ROUTING_MANAGER.into(),
            per: Per::Host,
            when: Vec::new(),
            programs: Vec::new(),
        }],
        ports: crate::PORTS,
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
        transports: ["default", "local", "tcp", "udp"].map(String::from).to_vec(),
        reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
        durabilities: vec![Durability::Volatile],
        histories: vec![HistoryKind::KeepAll],
        congestion: vec![Congestion::Block, Congestion::Drop],
        deliveries: deliveries(),
        matching: Some(Matching::Subscriber {
            how:
                "a subscription handler of the offered eventgroup; of a client the availability handler of its service"
                    .into(),
        }),
        largest_message_bytes: LARGEST_MESSAGE_BYTES,
        serialisations: vec![Serialisation::Someip],
        zero_copy: false,
        same_process: true,
        security: vec![SecurityDescription::by_user(
            "Policies (check_credentials) let the trial's user alone offer and request its services over the Unix sockets of \
             one host; between hosts it is refused, as nobody is checked at TCP and UDP ports.",
        )],
        lacking_security: vec![LackingSecurity::of(
            SecurityLevel::Encrypted,
            "vSomeIP has no encryption: SOME/IP's messages pass in clear",
        )],
        lacking_pause: None,
        between_hosts: true,
    }
}

/// The day of the tag in the makers' repository; of the version that the crate bundles, as an old one is to be told.
fn released(version: &str) -> Option<String> {
    (version == "3.4.10").then(|| "2023-11-29".into())
}

/// The deliveries of an application of vSomeIP.
pub(crate) fn deliveries() -> Deliveries {
    let no_call = "vSomeIP has no call that waits or looks for a message: it calls the handler that is registered";
    Deliveries {
        default: Delivery::LibraryThread,
        has: vec![DeliveryDescription::new(
            Delivery::LibraryThread,
            "A message handler on a dispatcher thread of vSomeIP's.",
            "vSomeIP's examples subscribe-sample and notify-sample (register_message_handler)",
        )],
        lacks: vec![
            LackingDelivery::new(Delivery::OwnThread, no_call),
            LackingDelivery::new(Delivery::Polling, no_call),
        ],
    }
}

fn options() -> Vec<OptionDescription> {
    let mut options = vec![
        choice(
            "transport",
            &["default", "local", "tcp", "udp"],
            "default",
            "local within a host; between hosts tcp for reliable streams, udp for best effort",
        ),
        choice(
            "discovery",
            &["multicast", "broadcast", "peers"],
            "multicast",
            "how routing managers of different hosts find each other: by multicast as shipped, or by their network's broadcast \
             address; peers is refused between hosts, as vSomeIP has no such way",
        ),
        choice(
            "one_way",
            &["event", "method"],
            "event",
            "how a message that is not answered goes: as an event to all who have subscribed, or as a request without a response \
             (fire and forget, MT_REQUEST_NO_RETURN) to its one subscriber, who offers the method",
        ),
        boolean(
            "someip_tp",
            false,
            "segments messages over UDP that are larger than 1400 bytes (someip-tp)",
        ),
        choice(
            "log_level",
            &["fatal", "error", "warning", "info", "debug", "trace"],
            "info",
            "what vSomeIP writes into its log, a file in the trial's folder (as shipped: the console)",
        ),
    ];
    options.extend(
        INTEGERS
            .iter()
            .map(|&(name, maximum, default, summary)| integer(name, 0..=maximum, default, summary)),
    );
    options
}

/// Name, largest value, default, summary.
const INTEGERS: [(&str, i64, i64, &str); 14] = [
    (
        "io_threads",
        255,
        2,
        "threads of each application that read and write sockets (threads)",
    ),
    (
        "max_dispatchers",
        255,
        10,
        "most further threads that call handlers while one is blocked (max_dispatchers)",
    ),
    (
        "max_dispatch_time_ms",
        60_000,
        100,
        "after which a handler counts as blocked (max_dispatch_time)",
    ),
    (
        "request_debounce_ms",
        10_000,
        10,
        "for which requests of services are collected (request_debounce_time)",
    ),
    (
        "npdu_debounce_ms",
        10_000,
        2,
        "least time between two messages to another host (npdu-default-timings)",
    ),
    (
        "npdu_retention_ms",
        10_000,
        5,
        "most time a message to another host is held back (npdu-default-timings)",
    ),
    (
        "sd_initial_delay_min_ms",
        60_000,
        0,
        "least delay before the first offer to other hosts (initial_delay_min)",
    ),
    (
        "sd_initial_delay_max_ms",
        60_000,
        3000,
        "most delay before the first offer to other hosts (initial_delay_max)",
    ),
    (
        "sd_repetitions_base_delay_ms",
        60_000,
        10,
        "delay before the first repeated offer (repetitions_base_delay)",
    ),
    (
        "sd_offer_debounce_ms",
        60_000,
        500,
        "for which new offers to other hosts are collected (offer_debounce_time)",
    ),
    (
        "buffer_shrink_threshold",
        65_535,
        5,
        "small messages after which a receive buffer is shrunk (buffer-shrink-threshold); 0: never",
    ),
    (
        "udp_receive_buffer_bytes",
        1 << 30,
        1_703_936,
        "receive buffer of UDP sockets (udp-receive-buffer-size)",
    ),
    (
        "tp_segment_bytes",
        1392,
        1392,
        "payload of a segment (max-segment-length)",
    ),
    (
        "tp_separation_us",
        1_000_000,
        0,
        "pause between segments (separation-time)",
    ),
];
