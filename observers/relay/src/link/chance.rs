//! Random numbers for one direction of a link.
//!
//! The generator is PCG XSL 128/64 (MCG), seeded for each direction apart. What the numbers decide is the impairments'.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The generator's name, for the record.
pub(crate) const GENERATOR: &str = "PCG XSL 128/64 (MCG)";

/// Chance for one direction.
pub(crate) struct Chance {
    generator: Pcg64Mcg,
}

impl Chance {
    /// Two directions of one seed, and two seeds, have nothing in common.
    pub(crate) fn new(seed: u64, direction: u64) -> Self {
        Self {
            generator: Pcg64Mcg::seed_from_u64(seed.wrapping_mul(2).wrapping_add(direction)),
        }
    }

    /// The next number, from 0 to below 1.
    pub(crate) fn draw(&mut self) -> f64 {
        self.generator.random()
    }
}
