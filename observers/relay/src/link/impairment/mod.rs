//! What a link does to the frames of one direction: the list of all impairments.
//!
//! A field of `Impairment` is what the front states, an entry of `effects` its check and what it does to each frame;
//! nothing else lists them. Rate and queue are acted on by `serialiser`, the fate of a frame by `path`.

mod delay;
mod effect;
mod shares;
#[cfg(test)]
mod tests;

use serde::Deserialize;

use crate::link::chance::Chance;
use crate::link::fate::Fate;

use delay::Delays;
pub(crate) use delay::Distribution;
use effect::{Effect, Share};

/// The longest queue.
const MOST_FRAMES: usize = 1 << 20;

/// One direction's impairment; the default lets every frame through at once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
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
    /// All effects on single frames, in the order in which they draw numbers.
    fn effects(&self) -> impl Effect {
        Share::new("loss", self.loss, shares::lose)
            .then(Share::new("duplication", self.duplication, shares::duplicate))
            .then(Share::new("corruption", self.corruption, shares::corrupt))
            .then(Share::new("reordering", self.reordering, shares::overtake))
            .then(Delays {
                delay_ns: self.delay_ns,
                jitter_ns: self.jitter_ns,
                distribution: self.distribution,
            })
    }

    /// Decides what becomes of the next frame.
    pub(crate) fn decide(&self, fate: &mut Fate<'_>, chance: &mut Chance) {
        self.effects().decide(fate, chance);
    }

    /// Says what can't be meant, naming the field below `place`.
    pub(crate) fn check(&self, place: &str) -> Result<(), String> {
        self.effects().check(place)?;
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
