//! When messages are to be sent: absolute schedules, computed from their beginning and never from the last send.
//!
//! Pure arithmetic on instants; `sender` waits for them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;

use middlemark_contract::{Arrival, PaceSpec, PatternSpec, Recorded};

/// The intended instants of one publisher from a beginning on, without end.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    begin_ns: i64,
    period_ns: f64,
    spacing: Spacing,
    next: u64,
}

#[derive(Debug, Clone)]
enum Spacing {
    /// Message k at k / `per_instant` periods.
    Equal { per_instant: u64 },
    /// Exponential intervals; the state of the generator and the time so far.
    Exponential { state: u64, elapsed_ns: f64 },
    /// As it was recorded.
    Recorded(Arc<Recorded>),
}

impl Spacing {
    fn of(arrival: Arrival, publisher: u16) -> Spacing {
        match arrival {
            Arrival::Fixed => Spacing::Equal { per_instant: 1 },
            Arrival::Poisson { seed } => Spacing::Exponential {
                state: seed.wrapping_add(u64::from(publisher).wrapping_mul(0xA076_1D64_78BD_642F)),
                elapsed_ns: 0.0,
            },
        }
    }
}

impl Schedule {
    /// Equal intervals, as nodes have them.
    #[must_use]
    pub(crate) fn every(rate_hz: f64, begin_ns: i64) -> Schedule {
        Schedule {
            begin_ns,
            period_ns: 1e9 / rate_hz,
            spacing: Spacing::Equal { per_instant: 1 },
            next: 0,
        }
    }

    /// The schedule of a pattern; its approach rate where the pattern itself has none.
    #[must_use]
    pub(crate) fn new(pattern: PatternSpec, publisher: u16, begin_ns: i64) -> Schedule {
        let (rate_hz, spacing) = match pattern {
            PatternSpec::Periodic { rate_hz, arrival }
            | PatternSpec::RequestResponse {
                pace: PaceSpec::Open { rate_hz, arrival },
                ..
            } => (rate_hz, Spacing::of(arrival, publisher)),
            PatternSpec::Burst { rate_hz, messages } => (
                rate_hz,
                Spacing::Equal {
                    per_instant: u64::from(messages.max(1)),
                },
            ),
            PatternSpec::Unthrottled { approach_hz, .. }
            | PatternSpec::PingPong { approach_hz, .. }
            | PatternSpec::RequestResponse {
                pace: PaceSpec::Closed { approach_hz },
                ..
            } => (approach_hz, Spacing::Equal { per_instant: 1 }),
            PatternSpec::Computed { .. } => unreachable!("a node sends these"),
        };
        Schedule {
            begin_ns,
            period_ns: 1e9 / rate_hz,
            spacing,
            next: 0,
        }
    }

    /// The schedule of messages as they were recorded.
    #[must_use]
    pub(crate) fn recorded(recorded: Arc<Recorded>, begin_ns: i64) -> Schedule {
        Schedule {
            begin_ns,
            period_ns: recorded.period_ns as f64,
            spacing: Spacing::Recorded(recorded),
            next: 0,
        }
    }
}

impl Iterator for Schedule {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let message = self.next;
        self.next += 1;
        let elapsed_ns = match &mut self.spacing {
            Spacing::Equal { per_instant } => (message / *per_instant) as f64 * self.period_ns,
            Spacing::Exponential { state, elapsed_ns } => {
                let now_ns = *elapsed_ns;
                *elapsed_ns -= uniform(state).ln() * self.period_ns;
                now_ns
            }
            Spacing::Recorded(recorded) => return Some(self.begin_ns + recorded.offset_ns(message) as i64),
        };
        Some(self.begin_ns + elapsed_ns.round() as i64)
    }
}

/// A message of one of several publishers; those of one instant go in the publishers' order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    pub(crate) intended_ns: i64,
    /// Whose it is, by the place of its schedule.
    pub(crate) publisher: usize,
    pub(crate) sequence: u32,
}

/// The messages of several publishers in the order in which they are due.
#[derive(Debug)]
pub(crate) struct Schedules {
    /// With the most messages of each.
    schedules: Vec<(Schedule, u32)>,
    /// The next message of each.
    next: BinaryHeap<Reverse<Due>>,
}

impl Schedules {
    /// Of publishers that each have so many messages at most.
    pub(crate) fn of(schedules: impl Iterator<Item = (Schedule, u32)>) -> Schedules {
        let mut schedules: Vec<_> = schedules.collect();
        let first = |(publisher, (schedule, most)): (usize, &mut (Schedule, u32))| {
            let intended_ns = schedule.next().filter(|_| *most > 0)?;
            Some(Reverse(Due {
                intended_ns,
                publisher,
                sequence: 0,
            }))
        };
        let next = schedules.iter_mut().enumerate().filter_map(first).collect();
        Schedules { schedules, next }
    }
}

impl Iterator for Schedules {
    type Item = Due;

    fn next(&mut self) -> Option<Due> {
        let mut earliest = self.next.peek_mut()?;
        let due = earliest.0;
        let (schedule, most) = &mut self.schedules[due.publisher];
        match schedule.next().filter(|_| due.sequence + 1 < *most) {
            Some(intended_ns) => {
                earliest.0 = Due {
                    intended_ns,
                    sequence: due.sequence + 1,
                    ..due
                };
            }
            None => drop(PeekMut::pop(earliest)),
        }
        Some(due)
    }
}

/// A uniform number in (0, 1], by the inverse of which an exponential interval is drawn.
fn uniform(state: &mut u64) -> f64 {
    ((crate::message::payload::split_mix(state) >> 11) + 1) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_rate_does_not_drift() {
        let pattern = PatternSpec::Periodic {
            rate_hz: 300.0,
            arrival: Arrival::Fixed,
        };
        let instants: Vec<_> = Schedule::new(pattern, 0, 1000).take(30_001).collect();
        assert_eq!(
            (instants[0], instants[300], instants[30_000]),
            (1000, 1_000_001_000, 100_000_001_000)
        );
    }

    #[test]
    fn a_burst_has_all_its_messages_at_one_instant() {
        let instants: Vec<_> = Schedule::new(
            PatternSpec::Burst {
                rate_hz: 10.0,
                messages: 3,
            },
            0,
            0,
        )
        .take(4)
        .collect();
        assert_eq!(instants, [0, 0, 0, 100_000_000]);
    }

    #[test]
    fn recorded_instants_are_kept_and_begin_again_after_the_period() {
        let recorded = Recorded {
            offsets_ns: vec![0, 7, 7, 900],
            sizes_bytes: vec![32, 40, 50, 60],
            period_ns: 1000,
        };
        let instants: Vec<_> = Schedule::recorded(Arc::new(recorded), 5).take(9).collect();
        assert_eq!(instants, [5, 12, 12, 905, 1005, 1012, 1012, 1905, 2005]);
    }

    #[test]
    fn several_schedules_are_merged_by_instant_and_each_keeps_its_own_numbers() {
        let merged = Schedules::of(
            [(100.0, 3), (50.0, 9), (1.0, 0)]
                .map(|(hz, most)| (Schedule::every(hz, 7), most))
                .into_iter(),
        );
        let dues: Vec<_> = merged
            .map(|due| (due.intended_ns, due.publisher, due.sequence))
            .take(6)
            .collect();
        let both = [
            (7, 0, 0),
            (7, 1, 0),
            (10_000_007, 0, 1),
            (20_000_007, 0, 2),
            (20_000_007, 1, 1),
        ];
        assert_eq!(dues[..5], both);
        assert_eq!(dues[5..], [(40_000_007, 1, 2)], "the first has no more messages");
    }

    #[test]
    fn poisson_intervals_have_the_rate_and_an_exponential_spread_and_differ_by_publisher() {
        let pattern = PatternSpec::Periodic {
            rate_hz: 1000.0,
            arrival: Arrival::Poisson { seed: 7 },
        };
        let instants: Vec<_> = Schedule::new(pattern, 0, 0).take(100_001).collect();
        let intervals: Vec<_> = instants.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = intervals.iter().sum::<f64>() / intervals.len() as f64;
        let deviation =
            (intervals.iter().map(|interval| (interval - mean).powi(2)).sum::<f64>() / intervals.len() as f64).sqrt();
        assert!(
            (mean / 1e6 - 1.0).abs() < 0.02 && (deviation / 1e6 - 1.0).abs() < 0.02,
            "{mean} {deviation}"
        );
        assert_ne!(Schedule::new(pattern, 1, 0).nth(1), Some(instants[1]));
    }
}
