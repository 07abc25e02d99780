//! What Fast DDS adds to the policies of DDS, and all of them in words; it creates nothing.

use middlemark_contract::Qos;
use middlemark_dds::Policies;
use middlemark_runtime::Options;

use crate::shim::ShimQos;
use crate::transport::Transport;

/// No limit of samples, to the library.
const UNLIMITED: i32 = 0;

/// The library's memory policies, in the order of its enumeration.
pub(crate) const MEMORY_POLICIES: [&str; 4] = [
    "preallocated",
    "preallocated_with_realloc",
    "dynamic",
    "dynamic_reusable",
];

/// The policies of writer and reader alike.
pub(crate) fn policies(qos: Qos, size_bytes: usize, options: &Options) -> ShimQos {
    let policy = options.text("memory_policy");
    ShimQos {
        policies: Policies::of(qos, size_bytes, UNLIMITED),
        heartbeat_ns: options.integer("heartbeat_period_ms") * 1_000_000,
        asynchronous: i32::from(options.text("publish_mode") == "asynchronous"),
        data_sharing: Transport::of(options).data_sharing(),
        memory_policy: MEMORY_POLICIES.iter().position(|&name| name == policy).unwrap_or(0) as i32,
    }
}

/// The policies that writer and reader share, in words.
pub(crate) fn words(policies: &ShimQos) -> String {
    let data_sharing = ["OFF", "AUTO", "ON"][policies.data_sharing.clamp(0, 2) as usize];
    let memory = MEMORY_POLICIES[policies.memory_policy.clamp(0, 3) as usize];
    format!(
        "{}, data sharing {data_sharing}, memory {memory}",
        policies.policies.words()
    )
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
    use middlemark_contract::{Congestion, History};
    use std::collections::BTreeMap;

    fn default_policies(history: History, congestion: Congestion, size_bytes: usize) -> ShimQos {
        let options = Options::resolve(&crate::description::describe(), "default", &BTreeMap::new()).unwrap();
        let qos = Qos {
            history,
            congestion,
            ..Qos::RELIABLE
        };
        policies(qos, size_bytes, &options)
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
