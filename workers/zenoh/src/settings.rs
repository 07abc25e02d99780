//! What is really in force: read back from a session's own configuration, links and transports, in words.
//!
//! It changes nothing; `session` and `router` put it into their events.

use std::collections::BTreeMap;

use middlemark_contract::{MessagePath, SecurityLevel};
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
    let through_memory = session.info().transports().wait().any(|transport| transport.is_shm());
    let pool_bytes = options.integer("shared_memory_pool_bytes") as u64;
    match loans::lockable_bytes() {
        _ if !through_memory => configured.to_owned(),
        // Then Zenoh can't make its pool, and sends everything that is not loaned over the link.
        Some(bytes) if bytes < pool_bytes => {
            format!("{configured}; no shared memory, as {pool_bytes} B can't be locked, only {bytes} B")
        }
        _ => {
            let threshold_bytes = options.integer("shared_memory_threshold_bytes");
            format!("{configured} + shared memory from {threshold_bytes} B")
        }
    }
}

/// The paths that messages may take: the links', and shared memory where it is on.
pub(crate) fn paths(options: &Options) -> Vec<MessagePath> {
    let link = match options.text("transport") {
        "unixsock-stream" => MessagePath::LocalSocket,
        _ => MessagePath::Network,
    };
    let memory = options.boolean("shared_memory").then_some(MessagePath::SharedMemory);
    [Some(link), memory].into_iter().flatten().collect()
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
