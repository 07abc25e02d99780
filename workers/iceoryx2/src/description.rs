//! What the worker says of itself: capabilities, the options as shipped, and the two profiles.
//!
//! Pure data; each value that differs from what is shipped names its source.

use std::collections::BTreeMap;

use middlemark_contract::{
    CONTRACT_VERSION, Capabilities, Congestion, Description, Durability, Library, OptionDescription, OptionValue,
    Pattern, Profile, Reliability,
};
use middlemark_runtime::options::{boolean, choice, integer};

/// The crate's version; the library has no call that reports it.
const VERSION: &str = "0.10.0";

pub(crate) fn describe() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "iceoryx2".into(),
        title: "iceoryx2".into(),
        summary: "Shared memory within one host; messages are written in place and a listener wakes the subscriber."
            .into(),
        library: Library {
            name: "iceoryx2".into(),
            version: VERSION.into(),
            origin: "crate iceoryx2, features std, console".into(),
        },
        capabilities: capabilities(),
        dissectors: vec![],
        services: vec![],
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
        ],
        transports: vec!["shared memory".into()],
        reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
        durabilities: vec![Durability::Volatile, Durability::TransientLocal],
        congestion: vec![Congestion::Block, Congestion::Drop],
        // iceoryx2 has no limit of its own; each subscriber's buffer holds as many messages as its history.
        largest_message_bytes: 64 << 20,
        zero_copy: true,
        same_process: true,
        security: vec![],
        between_hosts: false,
    }
}

fn shipped() -> Profile {
    Profile {
        summary:
            "As shipped (Config::default() of 0.10.0), with names and folder of the trial; data paired with events \
                  as in its example event_based_communication."
                .into(),
        options: BTreeMap::new(),
    }
}

fn tuned() -> Profile {
    let options = [
        // iceoryx2's own figures (benchmarks/publish-subscribe) are of a subscriber that polls without a pause, and its
        // makers say that publish-subscribe is polling based (iceoryx2, discussion 1222).
        ("receive_mode", OptionValue::Text("busy_poll".into())),
    ];
    Profile {
        summary:
            "For latency, as its own benchmark does it: each subscriber polls, and gives way only to who else can run."
                .into(),
        options: options.map(|(name, value)| (name.into(), value)).into(),
    }
}

fn options() -> Vec<OptionDescription> {
    vec![
        choice(
            "receive_mode",
            &["listener", "waitset", "busy_poll"],
            "listener",
            "A subscriber waits for its listener, for a wait set with its listener, or polls (yielding between two looks).",
        ),
        boolean(
            "zero_copy",
            true,
            "Messages are written in place in a loan; false: copied into it by the publish call.",
        ),
        integer(
            "keep_all_messages",
            1..=65_536,
            64,
            "How many messages a subscriber's buffer holds where all are to be kept: memory is reserved beforehand.",
        ),
    ]
}
