//! The neutral QoS as DDS policies, and policies in words; it creates nothing.

use middlemark_contract::{ApplicationSpec, Congestion, Durability, History, Qos, Refusal, Reliability};

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

/// So much at least keeps a reader of [`Policies::of_early_acknowledging_reader`].
const EARLY_ACKNOWLEDGED_BYTES: u64 = 16 << 20;

impl Policies {
    /// The policies for messages of this size; `unlimited` is what the implementation calls no limit of samples.
    #[must_use]
    pub fn of(qos: Qos, size_bytes: usize, unlimited: i32) -> Policies {
        let (depth, max_samples) = match qos.history {
            History::KeepLast { depth } => (depth.min(i32::MAX as u32) as i32, unlimited),
            History::KeepAll => (0, qos.queued_messages(size_bytes as u64) as i32),
        };
        Policies {
            reliable: i32::from(qos.reliability == Reliability::Reliable),
            depth,
            transient_local: i32::from(qos.durability == Durability::TransientLocal),
            max_samples,
            max_blocking_ns: match qos.congestion {
                Congestion::Block => qos.patience_ns as i64,
                Congestion::Drop => 0,
            },
        }
    }

    /// The policies of a reader whose library acknowledges what nobody took yet, and loses of that what is beyond its limit:
    /// with no more room than a writer may have under way, a busy machine lost 57 messages of 1500.
    #[must_use]
    pub fn of_early_acknowledging_reader(qos: Qos, size_bytes: usize, unlimited: i32) -> Policies {
        let queue_bytes = qos.queue_bytes.max(EARLY_ACKNOWLEDGED_BYTES);
        Policies::of(Qos { queue_bytes, ..qos }, size_bytes, unlimited)
    }

    /// The policies by the names of the DDS standard.
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

/// Refuses what no writer of DDS does: to wait for room on a best-effort stream, whose readers acknowledge nothing.
///
/// # Errors
/// The refusal of a stream that is best effort and requests that its publisher waits.
pub fn accept(spec: &ApplicationSpec) -> Result<(), Refusal> {
    let waiting = |qos: &Qos| qos.blocks() && qos.reliability == Reliability::BestEffort;
    match spec.streams.iter().find(|stream| waiting(&stream.qos)) {
        None => Ok(()),
        Some(stream) => Err(Refusal {
            capability: "congestion".into(),
            reason: format!(
                "block on the best-effort '{}': a best-effort writer of DDS waits for no reader; ask for reliable, or for drop",
                stream.name
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qos(history: History, congestion: Congestion) -> Qos {
        Qos {
            history,
            congestion,
            durability: Durability::TransientLocal,
            ..Qos::RELIABLE
        }
    }

    #[test]
    fn keeping_all_is_bounded_by_the_queue_and_waiting_by_the_patience() {
        let policies = Policies::of(qos(History::KeepAll, Congestion::Block), 4_000_000, -1);
        assert_eq!(
            policies.words(),
            "RELIABLE (max_blocking_time 5000 ms), KEEP_ALL (max_samples 4), TRANSIENT_LOCAL"
        );
    }

    #[test]
    fn keeping_the_last_has_no_limit_of_samples() {
        let last = qos(History::KeepLast { depth: 8 }, Congestion::Drop);
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

    #[test]
    fn a_reader_that_acknowledges_early_has_more_room_than_a_small_queue_of_its_writer() {
        let small = Qos {
            queue_bytes: 1 << 20,
            ..Qos::RELIABLE
        };
        assert_eq!(Policies::of(small, 16_384, -1).max_samples, 64);
        assert_eq!(
            Policies::of_early_acknowledging_reader(small, 16_384, -1).max_samples,
            1024
        );
    }
}
