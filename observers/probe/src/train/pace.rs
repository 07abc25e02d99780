//! How fast a train arrived while nothing held it up: the median over equal pieces of it.
//!
//! A sender, a shaper or a receiver that lost its CPU for some milliseconds leaves a gap and then a burst; both are in the
//! mean from first to last, neither says anything about the link. It keeps a bounded number of stamps, however long the train.

use crate::statistics::quantile;

/// Stamps that are kept; when they are so many, every second one is let go.
const MOST_STAMPS: usize = 4096;
/// Pieces over which the median is taken.
const PIECES: usize = 20;

/// The stamps of every `stride`-th arrival.
pub(crate) struct Pace {
    stamps_ns: Vec<i64>,
    stride: u64,
    arrived: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            stamps_ns: Vec::new(),
            stride: 1,
            arrived: 0,
        }
    }
}

impl Pace {
    /// One arrived.
    pub(crate) fn count(&mut self, arrived_ns: i64) {
        if self.arrived.is_multiple_of(self.stride) {
            self.stamps_ns.push(arrived_ns);
        }
        self.arrived += 1;
        if self.stamps_ns.len() >= MOST_STAMPS {
            let mut number = 0;
            self.stamps_ns.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.stride *= 2;
        }
    }

    /// From one arrival to the next; none before there were two.
    pub(crate) fn interval_ns(&self) -> Option<f64> {
        let steps = self.stamps_ns.len().checked_sub(1)?;
        let pieces = PIECES.min(steps);
        let mut intervals_ps: Vec<i64> = (0..pieces)
            .map(|piece| {
                let (begin, end) = (steps * piece / pieces, steps * (piece + 1) / pieces);
                let arrivals = (end - begin) as i64 * self.stride as i64;
                (self.stamps_ns[end] - self.stamps_ns[begin]) * 1000 / arrivals
            })
            .collect();
        intervals_ps.sort_unstable();
        quantile(&intervals_ps, 0.5).map(|interval_ps| interval_ps as f64 / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval_ns(stamps_ns: impl Iterator<Item = i64>) -> Option<f64> {
        let mut pace = Pace::default();
        stamps_ns.for_each(|stamp_ns| pace.count(stamp_ns));
        pace.interval_ns()
    }

    fn is_about(interval_ns: Option<f64>, expected_ns: f64) -> bool {
        interval_ns.is_some_and(|interval_ns| (interval_ns / expected_ns - 1.0).abs() < 1e-3)
    }

    #[test]
    fn a_steady_train_has_its_interval_however_short_or_long() {
        for arrivals in [2, 3, 20, 41, 4095, 4096, 4097, 100_000] {
            assert!(
                is_about(interval_ns((0..arrivals).map(|number| number * 12_304)), 12_304.0),
                "{arrivals}"
            );
        }
    }

    #[test]
    fn pauses_and_the_bursts_behind_them_do_not_count() {
        let stamp_ns = |number: i64| match number {
            20_000..30_000 => 20_000 * 12_304 + 100_000_000 + number % 100, // a pause, then all at once
            _ => number * 12_304,
        };
        assert!(is_about(interval_ns((0..80_000).map(stamp_ns)), 12_304.0));
    }

    #[test]
    fn one_arrival_has_no_pace() {
        assert_eq!(interval_ns(std::iter::empty()), None);
        assert_eq!(interval_ns(std::iter::once(5)), None);
    }
}
