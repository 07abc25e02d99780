//! What the worker says of Unix domain sockets.

use middlemark_contract::{
    Axis, CONTRACT_VERSION, Capabilities, Congestion, Description, Durability, HistoryKind, LackingSecurity, Library,
    Matching, OptionDescription, Pattern, PortHolders, Profile, Reliability, SecurityDescription, SecurityLevel,
    Serialisation,
};
use middlemark_runtime::options::choice;
use middlemark_sockets::{deliveries, kernel_release, shared_options, tuned};

/// A stream has no limit of its own, the other kinds have that of the send buffer; the trials end at 64 MiB.
const LARGEST_MESSAGE_BYTES: u64 = 64 << 20;

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
                Pattern::RequestResponse,
            ],
            transports: vec!["stream".into(), "seqpacket".into(), "dgram".into()],
            reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
            durabilities: vec![Durability::Volatile],
            histories: vec![HistoryKind::KeepAll],
            congestion: vec![Congestion::Block, Congestion::Drop],
            deliveries: deliveries(),
            matching: Some(Matching::Subscriber {
                how: "a connection to the path that the subscriber's socket is bound to".into(),
            }),
            largest_message_bytes: LARGEST_MESSAGE_BYTES,
            serialisations: vec![Serialisation::Plain, Serialisation::Cdr, Serialisation::Protobuf],
            zero_copy: false,
            same_process: true,
            security: vec![SecurityDescription::by_user(
                "A socket is its user's and nobody else may connect to it (mode 0600), which is so without this level too; \
                 nobody connects to another user's.",
            )],
            lacking_security: vec![LackingSecurity::of(
                SecurityLevel::Encrypted,
                "nothing leaves the machine: the kernel hands messages from process to process, and only root could read them on their way",
            )],
            lacking_pause: None,
            between_hosts: false,
        },
        protocols: vec![],
        dissectors: vec![],
        services: vec![],
        ports: PortHolders::Nothing,
        profiles: [("default".into(), default_profile()), ("tuned".into(), tuned_profile())].into(),
        options: shared_options().into_iter().chain(own_options()).collect(),
    }
}

fn default_profile() -> Profile {
    Profile::new("A stream with the kernel's own settings.")
}

fn tuned_profile() -> Profile {
    let summary = "A stream with send buffers as large as the kernel grants, up to 4 MiB.";
    let source = "unix(7): only the sender's buffer counts, SO_RCVBUF has no effect";
    let copies = "the kernel has no zero copy for these sockets";
    tuned(summary, copies, ["so_sndbuf_bytes"], source)
        .leaves(
            Axis::Batching,
            "nothing is held back: these sockets have no such algorithm",
        )
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
