//! What the worker says of itself, and its options: the program.

use middlemark_contract::{
    CONTRACT_VERSION, Capabilities, Congestion, Description, Durability, Library, OptionDescription, OptionKind,
    OptionValue, Pattern, Profile, Reliability,
};

const LARGEST_MESSAGE_BYTES: u64 = 64 << 20;

const MILLION: i64 = 1_000_000;
const MINUTE_NS: i64 = 60_000_000_000;

pub(crate) fn description() -> Description {
    Description {
        contract_version: CONTRACT_VERSION,
        middleware: "synthetic".into(),
        title: "Synthetic".into(),
        summary: "A middleware with a known answer: delays, loss, duplicates and reordering by formula.".into(),
        library: Library {
            name: "none".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            origin: "this project".into(),
        },
        capabilities: Capabilities {
            patterns: vec![
                Pattern::Periodic,
                Pattern::Burst,
                Pattern::Unthrottled,
                Pattern::PingPong,
            ],
            transports: vec!["shared memory".into()],
            reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
            durabilities: vec![Durability::Volatile],
            congestion: vec![Congestion::Block, Congestion::Drop],
            largest_message_bytes: LARGEST_MESSAGE_BYTES,
            zero_copy: false,
            same_process: true,
            security: vec![],
            between_hosts: false,
        },
        dissectors: vec![],
        services: vec![],
        profiles: [
            (
                "default".into(),
                Profile {
                    summary: "A fixed delay of 1 ms, nothing lost, doubled or reordered.".into(),
                    options: [].into(),
                },
            ),
            (
                "tuned".into(),
                Profile {
                    summary: "As the default, and never asleep while a message is under way.".into(),
                    options: [("release_spin_ns".into(), OptionValue::Integer(MINUTE_NS))].into(),
                },
            ),
        ]
        .into(),
        options: options(),
    }
}

fn options() -> Vec<OptionDescription> {
    vec![
        distribution(),
        number("seed", i64::MAX, 0, "Another seed, another fate for each message."),
        number(
            "delay_ns",
            MINUTE_NS,
            MILLION,
            "The delay, or where its distribution begins or has its middle.",
        ),
        number(
            "jitter_ns",
            MINUTE_NS,
            0,
            "The width of the delay's distribution, as its formula says.",
        ),
        per_million(
            "second_mode_per_million",
            "Bimodal: how many messages take jitter_ns longer.",
        ),
        per_million("loss_per_million", "How many messages are lost."),
        per_million("duplicate_per_million", "How many messages are released twice."),
        number(
            "duplicate_delay_ns",
            MINUTE_NS,
            0,
            "How much later than the first the second release is.",
        ),
        per_million(
            "reorder_per_million",
            "How many messages are held back by reorder_delay_ns.",
        ),
        number(
            "reorder_delay_ns",
            MINUTE_NS,
            0,
            "How long a message is held back, to be overtaken by later ones.",
        ),
        number(
            "bandwidth_bits_per_s",
            i64::MAX,
            0,
            "How fast each link passes messages on; 0: at once.",
        ),
        number(
            "release_spin_ns",
            MINUTE_NS,
            200_000,
            "How long before a release its thread stops sleeping and spins.",
        ),
    ]
}

fn per_million(name: &str, summary: &str) -> OptionDescription {
    number(name, MILLION, 0, summary)
}

fn number(name: &str, maximum: i64, default: i64, summary: &str) -> OptionDescription {
    OptionDescription {
        name: name.into(),
        kind: OptionKind::Integer { minimum: 0, maximum },
        default: OptionValue::Integer(default),
        summary: summary.into(),
    }
}

fn distribution() -> OptionDescription {
    OptionDescription {
        name: "distribution".into(),
        kind: OptionKind::Choice {
            choices: ["fixed", "uniform", "normal", "exponential", "bimodal"]
                .map(String::from)
                .into(),
        },
        default: OptionValue::Text("fixed".into()),
        summary: "How delays are distributed.".into(),
    }
}
