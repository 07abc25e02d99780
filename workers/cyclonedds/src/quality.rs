//! The neutral QoS as DDS policies, and policies in words; it creates nothing.

use middlemark_contract::{Congestion, Durability, History, Qos, Reliability};

use crate::shim::ShimQos;

/// How long a blocking write waits for a slow reader before it gives up. DDS's own default is 100 ms, which would turn
/// `block` into `drop`; longer than this a trial would not learn of a reader that has died.
pub(crate) const BLOCKING_NS: i64 = 5_000_000_000;

/// What a reader that keeps all may hold before the writer has to wait for it.
const KEPT_BYTES: usize = 256 << 20;

/// The policies of writer and reader alike.
pub(crate) fn policies(qos: Qos, size_bytes: usize) -> ShimQos {
    let (depth, max_samples) = match qos.history {
        History::KeepLast { depth } => (depth.min(i32::MAX as u32) as i32, -1),
        History::KeepAll => (0, (KEPT_BYTES / size_bytes).clamp(4, 16_384) as i32),
    };
    ShimQos {
        reliable: i32::from(qos.reliability == Reliability::Reliable),
        depth,
        transient_local: i32::from(qos.durability == Durability::TransientLocal),
        max_samples,
        max_blocking_ns: match qos.congestion {
            Congestion::Block => BLOCKING_NS,
            Congestion::Drop => 0,
        },
    }
}

/// Policies in the standard's words.
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
    format!("{reliability}, {history}, {durability}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qos(history: History, congestion: Congestion) -> Qos {
        Qos {
            reliability: Reliability::Reliable,
            history,
            durability: Durability::TransientLocal,
            congestion,
            level: None,
        }
    }

    #[test]
    fn keeping_all_is_bounded_by_memory() {
        let small = policies(qos(History::KeepAll, Congestion::Block), 64);
        let large = policies(qos(History::KeepAll, Congestion::Block), 64 << 20);
        assert_eq!((small.max_samples, large.max_samples), (16_384, 4));
    }

    #[test]
    fn dropping_never_waits_and_every_policy_is_stated() {
        let policies = policies(qos(History::KeepLast { depth: 8 }, Congestion::Drop), 64);
        assert_eq!(
            words(&policies),
            "RELIABLE (max_blocking_time 0 ms), KEEP_LAST 8, TRANSIENT_LOCAL"
        );
    }
}
