//! What the worker says of Unix domain sockets.

use middlemark_contract::{
    Axis, CONTRACT_VERSION, Capabilities, Congestion, Description, Durability, HistoryKind, Library, OptionDescription,
    Pattern, Profile, Reliability,
};
use middlemark_runtime::options::choice;
use middlemark_sockets::{deliveries, kernel_release, shared_options};

/// A stream has no limit of its own, the other kinds have that of the send buffer; the trials end at 64 MiB.
const LARGEST_MESSAGE_BYTES: u64 = 64 << 20;

/// As much as the kernel grants at Debian's newer `wmem_max`, so that a packet of 4 MB is possible (unix(7), `SO_SNDBUF`).
const TUNED_BUFFER_BYTES: i64 = 4 << 20;

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "uds".into(),
        title: "Unix domain sockets".into(),
        summary: "Messages over one Unix domain socket from each publisher to each subscriber: a stream unless the option says otherwise.".into(),
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
            transports: vec!["stream".into(), "seqpacket".into(), "dgram".into()],
            reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
            durabilities: vec![Durability::Volatile],
            histories: vec![HistoryKind::KeepAll],
            congestion: vec![Congestion::Block, Congestion::Drop],
            deliveries: deliveries(),
            largest_message_bytes: LARGEST_MESSAGE_BYTES,
            zero_copy: false,
            same_process: true,
            security: vec![],
            between_hosts: false,
        },
        dissectors: vec![],
        services: vec![],
        profiles: [("default".into(), default_profile()), ("tuned".into(), tuned_profile())].into(),
        options: shared_options().into_iter().chain(own_options()).collect(),
    }
}

fn default_profile() -> Profile {
    Profile::new("A stream with the kernel's own settings.")
}

fn tuned_profile() -> Profile {
    Profile::new("A stream with send buffers as large as the kernel grants, up to 4 MiB.")
        .leaves(
            Axis::WakeUp,
            "a thread that waits in recv, as shipped, is what sockperf and iperf3 use; polling is a delivery of its own",
        )
        .leaves(Axis::Copies, "the kernel has no zero copy for these sockets")
        .leaves(Axis::Discovery, "nobody is looked for: addresses are given")
        .sets(
            Axis::Buffers,
            [("so_sndbuf_bytes", TUNED_BUFFER_BYTES.into())],
            "unix(7): only the sender's buffer counts, SO_RCVBUF has no effect",
        )
        .leaves(Axis::Batching, "nothing is held back: these sockets have no such algorithm")
        .leaves(Axis::Other, "there is no other setting for speed")
}

fn own_options() -> [OptionDescription; 1] {
    [choice(
        "transport",
        &["stream", "seqpacket", "dgram"],
        "stream",
        "Whether the socket is a stream of messages of one size, or keeps messages apart itself, connected or not.",
    )]
}
