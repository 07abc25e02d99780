//! The policies of DDS in RustDDS's types, and back; it creates nothing.

use std::time::Duration as StdDuration;

use middlemark_contract::Qos;
use middlemark_dds::Policies;
use rustdds::policy::{Durability, History, Reliability, ResourceLimits};
use rustdds::{Duration, QosPolicies, QosPolicyBuilder};

/// No limit of samples, to the library.
const UNLIMITED: i32 = -1;

/// The policies of a writer of messages of this size.
pub(crate) fn of_writer(qos: Qos, size_bytes: usize) -> Policies {
    Policies::of(qos, size_bytes, UNLIMITED)
}

/// The policies of a reader of messages of this size. Beyond its limit the library removes the oldest, which it has
/// acknowledged, although nobody took them yet.
pub(crate) fn of_reader(qos: Qos, size_bytes: usize) -> Policies {
    Policies::of_early_acknowledging_reader(qos, size_bytes, UNLIMITED)
}

/// Policies in the library's types.
pub(crate) fn qos(policies: &Policies) -> QosPolicies {
    let reliability = if policies.reliable == 1 {
        let max_blocking_time = Duration::from_std(StdDuration::from_nanos(policies.max_blocking_ns as u64));
        Reliability::Reliable { max_blocking_time }
    } else {
        Reliability::BestEffort
    };
    let history = match policies.depth {
        0 => History::KeepAll,
        depth => History::KeepLast { depth },
    };
    let durability = if policies.transient_local == 1 {
        Durability::TransientLocal
    } else {
        Durability::Volatile
    };
    QosPolicyBuilder::new()
        .reliability(reliability)
        .history(history)
        .durability(durability)
        .resource_limits(ResourceLimits {
            max_samples: policies.max_samples,
            max_instances: UNLIMITED,
            max_samples_per_instance: policies.max_samples,
        })
        .build()
}

/// The policies that an endpoint has, in words.
pub(crate) fn words(qos: &QosPolicies) -> String {
    let max_blocking = qos.reliable_max_blocking_time();
    let policies = Policies {
        reliable: i32::from(qos.is_reliable()),
        depth: match qos.history() {
            Some(History::KeepLast { depth }) => depth,
            Some(History::KeepAll) => 0,
            None => 1, // as DDS has it where nothing is said
        },
        transient_local: i32::from(qos.durability() == Some(Durability::TransientLocal)),
        max_samples: qos.resource_limits().map_or(UNLIMITED, |limits| limits.max_samples),
        max_blocking_ns: max_blocking.map_or(0, |duration| duration.to_std().as_nanos() as i64),
    };
    policies.words()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_come_back_as_they_were_given() {
        let given = Policies {
            reliable: 1,
            depth: 0,
            transient_local: 1,
            max_samples: 16,
            max_blocking_ns: 5_000_000_000,
        };
        let last = Policies { depth: 8, ..given };
        for policies in [given, last, Policies::default()] {
            let expected = Policies {
                max_blocking_ns: policies.max_blocking_ns * i64::from(policies.reliable),
                ..policies
            };
            assert_eq!(words(&qos(&policies)), expected.words());
        }
    }
}
