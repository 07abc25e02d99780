//! The neutral QoS as DDS policies, and policies in words; it creates nothing.

use middlemark_contract::{Congestion, Durability, History, Qos, Reliability};

/// How long a blocking write waits for a slow reader before it gives up. DDS's own default is 100 ms, which would turn
/// `block` into `drop`; longer than this a trial would not learn of a reader that has died.
const BLOCKING_NS: i64 = 5_000_000_000;

/// What a writer or reader that keeps all may hold before the writer has to wait.
const KEPT_BYTES: usize = 256 << 20;

/// The policies of writer and reader alike, as a shim's `mm_qos` has them or begins with them.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Policies {
    /// 1 reliable, 0 best effort.
    pub reliable: i32,
    /// Keep last so many; 0: keep all.
    pub depth: i32,
    /// 1 transient local, 0 volatile.
    pub transient_local: i32,
    /// The resource limit.
    pub max_samples: i32,
    /// How long a write may wait.
    pub max_blocking_ns: i64,
}

impl Policies {
    /// The policies for messages of this size; `unlimited` is what the implementation calls no limit of samples.
    #[must_use]
    pub fn of(qos: Qos, size_bytes: usize, unlimited: i32) -> Policies {
        let (depth, max_samples) = match qos.history {
            History::KeepLast { depth } => (depth.min(i32::MAX as u32) as i32, unlimited),
            History::KeepAll => (0, (KEPT_BYTES / size_bytes).clamp(4, 16_384) as i32),
        };
        Policies {
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

    /// Them in the standard's words.
    #[must_use]
    pub fn words(&self) -> String {
        let reliability = if self.reliable == 1 {
            format!("RELIABLE (max_blocking_time {} ms)", self.max_blocking_ns / 1_000_000)
        } else {
            "BEST_EFFORT".to_owned()
        };
        let history = match self.depth {
            0 => format!("KEEP_ALL (max_samples {})", self.max_samples),
            depth => format!("KEEP_LAST {depth}"),
        };
        let durability = if self.transient_local == 1 {
            "TRANSIENT_LOCAL"
        } else {
            "VOLATILE"
        };
        format!("{reliability}, {history}, {durability}")
    }
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
        let limit = |size_bytes| Policies::of(qos(History::KeepAll, Congestion::Block), size_bytes, -1).max_samples;
        assert_eq!((limit(64), limit(64 << 20)), (16_384, 4));
    }

    #[test]
    fn keeping_the_last_has_no_limit_of_samples() {
        let last = qos(History::KeepLast { depth: 8 }, Congestion::Block);
        assert_eq!([-1, 0].map(|none| Policies::of(last, 64, none).max_samples), [-1, 0]);
    }

    #[test]
    fn dropping_never_waits_and_every_policy_is_stated() {
        let policies = Policies::of(qos(History::KeepLast { depth: 8 }, Congestion::Drop), 64, -1);
        assert_eq!(
            policies.words(),
            "RELIABLE (max_blocking_time 0 ms), KEEP_LAST 8, TRANSIENT_LOCAL"
        );
    }
}
