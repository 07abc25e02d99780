//! The neutral QoS as DDS policies, and policies in words; it creates nothing.

use middlemark_contract::{Congestion, Durability, History, Qos, Reliability};
use middlemark_runtime::Options;

use crate::shim::ShimQos;
use crate::transport::Transport;

/// How long a blocking write waits for a slow reader before it gives up. DDS's own default is 100 ms, which would turn
/// `block` into `drop`; longer than this a trial would not learn of a reader that has died.
const BLOCKING_NS: i64 = 5_000_000_000;

/// What a writer or reader that keeps all may hold before the writer has to wait.
const KEPT_BYTES: usize = 256 << 20;

/// The library's memory policies, in the order of its enumeration.
pub(crate) const MEMORY_POLICIES: [&str; 4] = [
    "preallocated",
    "preallocated_with_realloc",
    "dynamic",
    "dynamic_reusable",
];

/// The policies of writer and reader alike.
pub(crate) fn policies(qos: Qos, size_bytes: usize, options: &Options) -> ShimQos {
    let (depth, max_samples) = match qos.history {
        History::KeepLast { depth } => (depth.min(i32::MAX as u32) as i32, 0),
        History::KeepAll => (0, (KEPT_BYTES / size_bytes).clamp(4, 16_384) as i32),
    };
    let policy = options.text("memory_policy");
    ShimQos {
        reliable: i32::from(qos.reliability == Reliability::Reliable),
        depth,
        transient_local: i32::from(qos.durability == Durability::TransientLocal),
        max_samples,
        max_blocking_ns: match qos.congestion {
            Congestion::Block => BLOCKING_NS,
            Congestion::Drop => 0,
        },
        heartbeat_ns: options.integer("heartbeat_period_ms") * 1_000_000,
        asynchronous: i32::from(options.text("publish_mode") == "asynchronous"),
        data_sharing: Transport::of(options).data_sharing(),
        memory_policy: MEMORY_POLICIES.iter().position(|&name| name == policy).unwrap_or(0) as i32,
    }
}

/// The policies that writer and reader share, in the standard's words.
pub(crate) fn words(policies: &ShimQos) -> String {
    let reliability = if policies.reliable == 1 {
        format!(
            "RELIABLE (max_blocking_time {} ms)",
            policies.max_blocking_ns / 1_000_000
        )
    } else {
        "BEST_EFFORT".to_owned()
    };
    let history = match policies.depth {
        0 => format!("KEEP_ALL (max_samples {})", policies.max_samples),
        depth => format!("KEEP_LAST {depth}"),
    };
    let durability = if policies.transient_local == 1 {
        "TRANSIENT_LOCAL"
    } else {
        "VOLATILE"
    };
    let data_sharing = ["OFF", "AUTO", "ON"][policies.data_sharing.clamp(0, 2) as usize];
    let memory = MEMORY_POLICIES[policies.memory_policy.clamp(0, 3) as usize];
    format!("{reliability}, {history}, {durability}, data sharing {data_sharing}, memory {memory}")
}

/// A writer's policies: the shared ones, and how it publishes.
pub(crate) fn writer_words(policies: &ShimQos) -> String {
    let mode = if policies.asynchronous == 1 {
        "ASYNCHRONOUS"
    } else {
        "SYNCHRONOUS"
    };
    format!(
        "{}, {mode} publish, heartbeat {} ms",
        words(policies),
        policies.heartbeat_ns / 1_000_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn default_policies(history: History, congestion: Congestion, size_bytes: usize) -> ShimQos {
        let options = Options::resolve(&crate::description::describe(), "default", &BTreeMap::new()).unwrap();
        let qos = Qos {
            reliability: Reliability::Reliable,
            history,
            durability: Durability::Volatile,
            congestion,
            level: None,
        };
        policies(qos, size_bytes, &options)
    }

    #[test]
    fn keeping_all_is_bounded_by_memory() {
        let small = default_policies(History::KeepAll, Congestion::Block, 64);
        let large = default_policies(History::KeepAll, Congestion::Block, 64 << 20);
        assert_eq!((small.max_samples, large.max_samples), (16_384, 4));
    }

    #[test]
    fn the_default_profile_has_the_policies_as_shipped() {
        let policies = default_policies(History::KeepLast { depth: 8 }, Congestion::Drop, 64);
        assert_eq!(
            writer_words(&policies),
            "RELIABLE (max_blocking_time 0 ms), KEEP_LAST 8, VOLATILE, data sharing AUTO, memory preallocated, SYNCHRONOUS \
             publish, heartbeat 3000 ms"
        );
    }
}
