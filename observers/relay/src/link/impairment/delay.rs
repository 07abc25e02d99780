//! How much later frames are released: the delay, and the jitter about it.

use std::f64::consts::TAU;

use serde::Deserialize;

use crate::link::chance::Chance;
use crate::link::fate::Fate;
use crate::link::impairment::effect::Effect;

/// The longest delay or jitter: beyond it, a unit was mistaken.
const LONGEST_NS: i64 = 60_000_000_000;

/// How jitter is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Distribution {
    /// Every value within ± jitter alike.
    Uniform,
    /// Gaussian with the jitter as its standard deviation.
    Normal,
}

/// Every frame is delayed, each with its own deviation.
pub(super) struct Delays {
    pub(super) delay_ns: i64,
    pub(super) jitter_ns: i64,
    pub(super) distribution: Distribution,
}

impl Effect for Delays {
    fn check(&self, place: &str) -> Result<(), String> {
        for (name, time_ns) in [("delay_ns", self.delay_ns), ("jitter_ns", self.jitter_ns)] {
            if !(0..=LONGEST_NS).contains(&time_ns) {
                return Err(format!("`{place}.{name}` is {time_ns}: from 0 to {LONGEST_NS}"));
            }
        }
        Ok(())
    }

    fn decide(&self, fate: &mut Fate<'_>, chance: &mut Chance) {
        let (first, second) = (chance.draw(), chance.draw());
        let jitter_ns = (self.jitter_ns as f64 * deviation(self.distribution, first, second)) as i64;
        fate.delay_ns += (self.delay_ns + jitter_ns).max(0);
    }
}

/// A deviate of half-width one (uniform), or of standard deviation one (normal: Box and Muller, 1958).
fn deviation(distribution: Distribution, first: f64, second: f64) -> f64 {
    match distribution {
        Distribution::Uniform => 2.0 * first - 1.0,
        Distribution::Normal => (-2.0 * (1.0 - first).ln()).sqrt() * (TAU * second).cos(),
    }
}
