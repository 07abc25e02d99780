//! What becomes of a frame, by chance: lost, doubled, damaged, overtaking, late by so much.
//!
//! The generator is PCG XSL 128/64 (MCG), seeded for each direction apart. Every frame draws the same count of numbers
//! whatever the impairment is, so that the fate of the n-th frame depends on the seed, the direction and n only.

use std::f64::consts::TAU;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::link::impairment::{Distribution, Impairment};

/// The generator's name, for the record.
pub(crate) const GENERATOR: &str = "PCG XSL 128/64 (MCG)";

/// Chance for one direction.
pub(crate) struct Chance {
    generator: Pcg64Mcg,
}

/// What becomes of one frame.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fate {
    pub(crate) lost: bool,
    pub(crate) duplicated: bool,
    /// Sent on without the delay.
    pub(crate) overtakes: bool,
    /// The bit that is flipped, counted from the frame's first.
    pub(crate) flipped_bit: Option<usize>,
    /// Added to the delay.
    pub(crate) jitter_ns: i64,
}

impl Chance {
    /// Two directions of one seed, and two seeds, have nothing in common.
    pub(crate) fn new(seed: u64, direction: u64) -> Self {
        Self {
            generator: Pcg64Mcg::seed_from_u64(seed.wrapping_mul(2).wrapping_add(direction)),
        }
    }

    /// The fate of the next frame.
    pub(crate) fn draw(&mut self, impairment: &Impairment, frame_bytes: usize) -> Fate {
        let [loss, duplication, corruption, bit, reordering, first, second]: [f64; 7] =
            std::array::from_fn(|_| self.generator.random());
        Fate {
            lost: loss < impairment.loss,
            duplicated: duplication < impairment.duplication,
            overtakes: reordering < impairment.reordering,
            flipped_bit: (corruption < impairment.corruption).then_some((bit * frame_bytes as f64 * 8.0) as usize),
            jitter_ns: (impairment.jitter_ns as f64 * deviation(impairment.distribution, first, second)) as i64,
        }
    }
}

/// A deviate of half-width one (uniform), or of standard deviation one (normal: Box and Muller, 1958).
fn deviation(distribution: Distribution, first: f64, second: f64) -> f64 {
    match distribution {
        Distribution::Uniform => 2.0 * first - 1.0,
        Distribution::Normal => (-2.0 * (1.0 - first).ln()).sqrt() * (TAU * second).cos(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMES: usize = 200_000;

    fn fates(impairment: &Impairment, seed: u64, direction: u64) -> Vec<Fate> {
        let mut chance = Chance::new(seed, direction);
        (0..FRAMES).map(|_| chance.draw(impairment, 100)).collect()
    }

    /// Within five standard deviations of a binomial: a fixed seed makes the outcome repeatable.
    fn is_fraction(count: usize, fraction: f64) -> bool {
        let expected = FRAMES as f64 * fraction;
        (count as f64 - expected).abs() < 5.0 * (expected * (1.0 - fraction)).sqrt()
    }

    #[test]
    fn each_chance_has_its_own_fraction() {
        let impairment = Impairment {
            loss: 0.1,
            duplication: 0.02,
            reordering: 0.25,
            corruption: 0.01,
            ..Default::default()
        };
        let fates = fates(&impairment, 42, 0);
        assert!(is_fraction(fates.iter().filter(|fate| fate.lost).count(), 0.1));
        assert!(is_fraction(fates.iter().filter(|fate| fate.duplicated).count(), 0.02));
        assert!(is_fraction(fates.iter().filter(|fate| fate.overtakes).count(), 0.25));
        assert!(is_fraction(
            fates.iter().filter(|fate| fate.flipped_bit.is_some()).count(),
            0.01
        ));
        assert!(is_fraction(
            fates.iter().filter(|fate| fate.lost && fate.overtakes).count(),
            0.025
        ));
        assert!(fates.iter().filter_map(|fate| fate.flipped_bit).all(|bit| bit < 800));
    }

    #[test]
    fn none_and_all_are_exact() {
        assert!(
            fates(&Impairment::default(), 1, 0)
                .iter()
                .all(|fate| !fate.lost && fate.jitter_ns == 0)
        );
        assert!(
            fates(
                &Impairment {
                    loss: 1.0,
                    ..Default::default()
                },
                1,
                0
            )
            .iter()
            .all(|fate| fate.lost)
        );
    }

    #[test]
    fn the_pattern_repeats_with_the_seed_and_only_with_it() {
        let impairment = Impairment {
            loss: 0.1,
            jitter_ns: 1000,
            ..Default::default()
        };
        let fates_of_seed = fates(&impairment, 7, 0);
        assert_eq!(fates_of_seed, fates(&impairment, 7, 0));
        assert_ne!(fates_of_seed, fates(&impairment, 8, 0));
        assert_ne!(fates_of_seed, fates(&impairment, 7, 1));
    }

    #[test]
    fn another_impairment_does_not_shift_the_pattern_of_loss() {
        let losses =
            |impairment: &Impairment| -> Vec<bool> { fates(impairment, 7, 0).iter().map(|fate| fate.lost).collect() };
        let plain = Impairment {
            loss: 0.1,
            ..Default::default()
        };
        let more = Impairment {
            jitter_ns: 5,
            duplication: 0.3,
            distribution: Distribution::Normal,
            ..plain.clone()
        };
        assert_eq!(losses(&plain), losses(&more));
    }

    #[test]
    fn jitter_has_the_asked_width() {
        let mut impairment = Impairment {
            jitter_ns: 1_000_000,
            ..Default::default()
        };
        let spread = |fates: &[Fate]| {
            (fates.iter().map(|fate| (fate.jitter_ns as f64).powi(2)).sum::<f64>() / FRAMES as f64).sqrt()
        };
        let uniform = fates(&impairment, 3, 0);
        assert!(uniform.iter().all(|fate| fate.jitter_ns.abs() <= 1_000_000));
        assert!((spread(&uniform) - 1e6 / 3.0_f64.sqrt()).abs() < 5e3);
        impairment.distribution = Distribution::Normal;
        assert!((spread(&fates(&impairment, 3, 0)) - 1e6).abs() < 1e4);
    }
}
