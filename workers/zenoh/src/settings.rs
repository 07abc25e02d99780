//! What is really in force: read back from a session's own configuration, links and transports, in words.
//!
//! It changes nothing; `session` and `router` put it into their events.

use std::collections::BTreeMap;
use std::ops::BitOr;

use middlemark_contract::{ApplicationSpec, MessagePath, PatternSpec, Reach, SecurityLevel};
use middlemark_runtime::Options;
use serde_json::Value;
use zenoh::{Session, Wait};

use crate::publisher::loans;

/// The keys of Zenoh's configuration that matter to a comparison.
const KEYS: [&str; 22] = [
    "mode",
    "listen/endpoints",
    "connect/endpoints",
    "connect/retry",
    "scouting/delay",
    "scouting/multicast/enabled",
    "scouting/multicast/address",
    "scouting/multicast/interface",
    "scouting/gossip/enabled",
    "transport/unicast/lowlatency",
    "transport/unicast/qos/enabled",
    "transport/link/tx/batch_size",
    "transport/link/tx/queue/batching",
    "transport/link/tx/queue/size/data",
    "transport/link/tx/queue/congestion_control",
    "transport/link/tx/queue/allocation",
    "transport/link/rx/buffer_size",
    "transport/link/rx/max_message_size",
    "transport/link/tcp",
    "transport/shared_memory/enabled",
    "transport/shared_memory/mode",
    "transport/shared_memory/transport_optimization",
];

/// The keys that keep strangers out, where anything does.
const SECURITY_KEYS: [&str; 4] = [
    "transport/link/protocols",
    "transport/link/tls/enable_mtls",
    "access_control/enabled",
    "access_control/default_permission",
];

/// The library's version as it reports itself.
pub(crate) fn version() -> String {
    let full = zenoh::GIT_VERSION;
    let version = full.split('-').next().unwrap_or(full);
    version.trim_start_matches('v').to_owned()
}

/// The configuration in force, by Zenoh's own keys.
pub(crate) fn read_back(session: &Session, level: Option<SecurityLevel>) -> BTreeMap<String, String> {
    let config: Value = serde_json::from_str(&session.config().to_string()).unwrap_or(Value::Null);
    let in_force = |key: &str| word(config.pointer(&format!("/{key}")).unwrap_or(&Value::Null));
    let of_security = level.iter().flat_map(|_| SECURITY_KEYS);
    KEYS.into_iter()
        .chain(of_security)
        .map(|key| (key.to_owned(), in_force(key)))
        .collect()
}

/// The transport in words, shared memory included where a transport has agreed on it.
pub(crate) fn transport(session: &Session, options: &Options, protocol: &str) -> String {
    let configured = if protocol == "tls" { "tcp with TLS" } else { protocol };
    if options.boolean("lowlatency") {
        return format!("{configured}, low latency");
    }
    match lacking_memory(options) {
        _ if !agrees_on_memory(session, options) => configured.to_owned(),
        Some((bytes, pool_bytes)) => {
            format!("{configured}; no shared memory, as {pool_bytes} B can't be locked, only {bytes} B")
        }
        None => {
            let threshold_bytes = options.integer("shared_memory_threshold_bytes");
            format!("{configured} + shared memory from {threshold_bytes} B")
        }
    }
}

/// Whether a transport of the session has agreed on shared memory; one of low latency can't be asked (see [`links`]).
fn agrees_on_memory(session: &Session, options: &Options) -> bool {
    if options.boolean("lowlatency") {
        return options.boolean("shared_memory");
    }
    session.info().transports().wait().any(|transport| transport.is_shm())
}

/// How much may be locked, and how much the pool needs, where Zenoh can't make its pool; it then sends everything that is
/// not loaned over the link.
fn lacking_memory(options: &Options) -> Option<(u64, u64)> {
    let pool_bytes = options.integer("shared_memory_pool_bytes") as u64;
    let lockable = loans::lockable_bytes().filter(|bytes| *bytes < pool_bytes);
    lockable.map(|bytes| (bytes, pool_bytes))
}

/// The messages of one size that a session sends or receives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Messages {
    size_bytes: u64,
    /// Where their other ends are.
    reach: Reach,
    /// Whether they are written into a pool of their publisher's.
    are_lent: bool,
}

impl Messages {
    /// Those of an application, and their answers.
    pub(crate) fn of(spec: &ApplicationSpec, options: &Options) -> Vec<Messages> {
        let sizes = spec.streams.iter().flat_map(|stream| {
            let answer_bytes = stream.pattern.answer_bytes();
            [Some(stream.size_bytes), answer_bytes]
                .into_iter()
                .flatten()
                .map(move |size_bytes| (stream, size_bytes))
        });
        sizes
            .map(|(stream, size_bytes)| Messages {
                size_bytes,
                reach: spec.reach_of(stream),
                are_lent: !matches!(stream.pattern, PatternSpec::RequestResponse { .. })
                    && loans::are_lent(size_bytes as usize, options),
            })
            .collect()
    }
}

/// The paths of these messages: a call within the session; the link, which also tells of messages in shared memory; and that
/// memory, where messages are lent, or are large enough, and not too large, to be copied there for a peer on this host.
pub(crate) fn paths(session: &Session, options: &Options, messages: &[Messages]) -> Vec<MessagePath> {
    let link = match options.text("transport") {
        "unixsock-stream" => MessagePath::LocalSocket,
        _ => MessagePath::Network,
    };
    let bytes = |name| options.integer(name) as u64;
    let copied_bytes = bytes("shared_memory_threshold_bytes")..bytes("shared_memory_pool_bytes");
    let can_copy = lacking_memory(options).is_none();
    let fit = |sent: &Messages| sent.are_lent || (can_copy && copied_bytes.contains(&sent.size_bytes));
    let reach = messages
        .iter()
        .map(|sent| sent.reach)
        .fold(Reach::default(), Reach::bitor);
    let mut paths = reach.paths(MessagePath::Process, link);
    let within_application = messages
        .iter()
        .any(|sent| sent.reach.within_application && sent.are_lent);
    let within_host = messages.iter().any(|sent| sent.reach.within_host && fit(sent));
    if within_application || (within_host && agrees_on_memory(session, options)) {
        paths.push(MessagePath::SharedMemory);
    }
    paths
}

/// The links that there are now.
///
/// Zenoh 1.10.2 panics when a low latency transport is asked for them outside of a thread of Zenoh's own.
pub(crate) fn links(session: &Session, options: &Options) -> String {
    if options.boolean("lowlatency") {
        return "not readable from the low latency transport".into();
    }
    let links = session.info().links().wait();
    let words = links.map(|link| format!("{} -> {} (mtu {})", link.src(), link.dst(), link.mtu()));
    words.collect::<Vec<_>>().join(", ")
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "as the library has it".into(),
        other => other.to_string(),
    }
}
