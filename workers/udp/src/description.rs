//! What the worker says of UDP.

use middlemark_contract::{
    Axis, CONTRACT_VERSION, Capabilities, Congestion, Description, Dissector, Durability, HistoryKind, Library,
    Pattern, Profile, Reliability,
};
use middlemark_sockets::{deliveries, kernel_release, shared_options};

/// The largest payload of one IPv4 datagram: 65535 less 20 for IP and 8 for UDP.
const LARGEST_MESSAGE_BYTES: u64 = 65_507;

/// More than 60 of the largest messages, so that a burst or a receiver that is away for a moment loses none. The kernel
/// caps it at `net.core.rmem_max`; udp(7) and socket(7) leave no other setting against loss.
const TUNED_BUFFER_BYTES: i64 = 4 << 20;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "udp".into(),
        title: "UDP sockets".into(),
        summary: "One datagram a message over connected UDP sockets, received by one blocking thread a subscriber."
            .into(),
        library: Library {
            name: "none".into(),
            version: kernel_release(),
            origin: "the running kernel".into(),
            released: None,
        },
        capabilities: Capabilities {
            patterns: vec![
                Pattern::Periodic,
                Pattern::Burst,
                Pattern::Unthrottled,
                Pattern::PingPong,
            ],
            transports: vec!["udp".into()],
            reliabilities: vec![Reliability::BestEffort],
            durabilities: vec![Durability::Volatile],
            histories: vec![HistoryKind::KeepAll],
            // A receiver that is slow is not waited for: what its buffer has no room for is gone.
            congestion: vec![Congestion::Drop],
            deliveries: deliveries(),
            largest_message_bytes: LARGEST_MESSAGE_BYTES,
            zero_copy: false,
            same_process: true,
            security: vec![],
            between_hosts: true,
        },
        dissectors: vec![Dissector {
            name: "udp".into(),
            remark: None,
        }],
        services: vec![],
        profiles: [
            ("default".into(), Profile::new("The kernel's own settings.")),
            ("tuned".into(), tuned_profile()),
        ]
        .into(),
        options: shared_options(),
    }
}

fn tuned_profile() -> Profile {
    Profile::new("Receive and send buffers as large as the kernel grants, up to 4 MiB.")
        .leaves(
            Axis::WakeUp,
            "a thread that waits in recv, as shipped, is what sockperf and iperf3 use; polling is a delivery of its own",
        )
        .leaves(
            Axis::Copies,
            "MSG_ZEROCOPY pays off above 10 kB only, and copies on loopback all the same (Linux, networking/msg_zerocopy)",
        )
        .leaves(Axis::Discovery, "nobody is looked for: addresses are given")
        .sets(
            Axis::Buffers,
            [
                ("so_rcvbuf_bytes", TUNED_BUFFER_BYTES.into()),
                ("so_sndbuf_bytes", TUNED_BUFFER_BYTES.into()),
            ],
            "udp(7), socket(7): what finds no room in a buffer is lost",
        )
        .leaves(Axis::Batching, "a message is a datagram, and is sent at once")
        .leaves(Axis::Other, "there is no other setting for speed")
}
