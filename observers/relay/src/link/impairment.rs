//! What a link does to the frames of one direction.
//!
//! It holds and checks the figures; `serialiser`, `fate` and `path` act on them.

use serde::Deserialize;

/// The longest delay or jitter: beyond it, a unit was mistaken.
const LONGEST_NS: i64 = 60_000_000_000;
/// The longest queue.
const MOST_FRAMES: usize = 1 << 20;

/// One direction's impairment; the default lets every frame through at once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Impairment {
    /// The rate at which frames are serialised, on the wire; none: without limit.
    pub(crate) rate_bits_per_s: Option<u64>,
    /// Frames that may wait for the serialiser; one more is dropped (drop-tail).
    pub(crate) queue_frames: usize,
    /// From the last bit serialised to the frame's release.
    pub(crate) delay_ns: i64,
    /// Half-width (uniform) or standard deviation (normal) about the delay; the sum is never below zero.
    pub(crate) jitter_ns: i64,
    /// How the jitter is distributed.
    pub(crate) distribution: Distribution,
    /// Jitter lets no frame pass an earlier one.
    pub(crate) keep_order: bool,
    /// Fraction of frames that vanish after serialisation.
    pub(crate) loss: f64,
    /// Fraction of frames that arrive twice, the copy right behind.
    pub(crate) duplication: f64,
    /// Fraction of frames that skip the delay and so overtake.
    pub(crate) reordering: f64,
    /// Fraction of frames with one random bit flipped.
    pub(crate) corruption: f64,
}

/// How jitter is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Distribution {
    /// Every value within ± jitter alike.
    Uniform,
    /// Gaussian with the jitter as its standard deviation.
    Normal,
}

impl Default for Impairment {
    fn default() -> Self {
        Self {
            rate_bits_per_s: None,
            queue_frames: 1000,
            delay_ns: 0,
            jitter_ns: 0,
            distribution: Distribution::Uniform,
            keep_order: true,
            loss: 0.0,
            duplication: 0.0,
            reordering: 0.0,
            corruption: 0.0,
        }
    }
}

impl Impairment {
    /// Says what can't be meant, naming the field below `place`.
    pub(crate) fn check(&self, place: &str) -> Result<(), String> {
        for (name, fraction) in [
            ("loss", self.loss),
            ("duplication", self.duplication),
            ("reordering", self.reordering),
            ("corruption", self.corruption),
        ] {
            if !(0.0..=1.0).contains(&fraction) {
                return Err(format!("`{place}.{name}` is {fraction}: a fraction from 0 to 1"));
            }
        }
        for (name, time_ns) in [("delay_ns", self.delay_ns), ("jitter_ns", self.jitter_ns)] {
            if !(0..=LONGEST_NS).contains(&time_ns) {
                return Err(format!("`{place}.{name}` is {time_ns}: from 0 to {LONGEST_NS}"));
            }
        }
        if !(1..=MOST_FRAMES).contains(&self.queue_frames) {
            return Err(format!(
                "`{place}.queue_frames` is {}: from 1 to {MOST_FRAMES}",
                self.queue_frames
            ));
        }
        if self.rate_bits_per_s == Some(0) {
            return Err(format!(
                "`{place}.rate_bits_per_s` is 0: leave it out for no limit, `loss` 1 for a dead link"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(json: &str) -> String {
        serde_json::from_str::<Impairment>(json)
            .unwrap()
            .check("outgoing")
            .unwrap_err()
    }

    #[test]
    fn the_default_is_accepted_and_changes_nothing() {
        let impairment: Impairment = serde_json::from_str("{}").unwrap();
        assert_eq!(impairment, Impairment::default());
        impairment.check("outgoing").unwrap();
    }

    #[test]
    fn figures_that_cannot_be_meant_are_refused_by_name() {
        assert!(refusal(r#"{"loss": 1.5}"#).contains("outgoing.loss"));
        assert!(refusal(r#"{"corruption": -0.1}"#).contains("outgoing.corruption"));
        assert!(refusal(r#"{"delay_ns": -1}"#).contains("outgoing.delay_ns"));
        assert!(refusal(r#"{"queue_frames": 0}"#).contains("outgoing.queue_frames"));
        assert!(refusal(r#"{"rate_bits_per_s": 0}"#).contains("outgoing.rate_bits_per_s"));
    }

    #[test]
    fn an_unknown_field_is_refused() {
        assert!(serde_json::from_str::<Impairment>(r#"{"delay_ms": 1}"#).is_err());
    }
}
