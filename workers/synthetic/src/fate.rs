//! The fate of one message: a pure function of the program and the message's identity, and nothing else.
//!
//! `docs/middlewares/synthetic.md` states it in words and in Python; the tests here hold both to the same values.

use crate::program::{Distribution, Program};

/// Which message, on its way to which subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) channel: u16,
    pub(crate) publisher: u16,
    pub(crate) subscriber: u16,
    pub(crate) sequence: u32,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) lost: bool,
    pub(crate) duplicated: bool,
    /// From its leaving the link to its release.
    pub(crate) delay_ns: i64,
}

const MILLION: u64 = 1_000_000;

impl Fate {
    pub(crate) fn of(program: &Program, identity: Identity) -> Fate {
        let mut draws = Draws::new(program.seed, identity);
        let lost = draws.happens(program.loss_per_million);
        let duplicated = draws.happens(program.duplicate_per_million);
        let reordered = draws.happens(program.reorder_per_million);
        let held_ns = if reordered { program.reorder_delay_ns } else { 0 };
        Fate {
            lost,
            duplicated,
            delay_ns: (delay_ns(program, &mut draws) + held_ns).max(0),
        }
    }
}

fn delay_ns(program: &Program, draws: &mut Draws) -> i64 {
    let jitter_ns = program.jitter_ns as f64;
    let beyond_ns = match program.distribution {
        Distribution::Uniform => (draws.unit() * jitter_ns).floor() as i64,
        Distribution::Normal => (draws.normal_within(3.0) * jitter_ns).round() as i64,
        Distribution::Exponential => (-(1.0 - draws.unit()).ln() * jitter_ns).round() as i64,
        Distribution::Bimodal if draws.happens(program.second_mode_per_million) => program.jitter_ns,
        Distribution::Fixed | Distribution::Bimodal => 0,
    };
    program.delay_ns + beyond_ns
}

/// `SplitMix64` (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014), from a state that
/// the identity decides.
struct Draws(u64);

const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

impl Draws {
    fn new(seed: u64, identity: Identity) -> Draws {
        let message =
            u64::from(identity.sequence) | u64::from(identity.publisher) << 32 | u64::from(identity.subscriber) << 48;
        let stream = mix(seed.wrapping_add(u64::from(identity.channel + 1).wrapping_mul(GAMMA)));
        Draws(stream ^ message)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix(self.0)
    }

    /// Whether something that happens to so many of a million happens.
    fn happens(&mut self, per_million: u64) -> bool {
        self.next() % MILLION < per_million
    }

    /// From 0 up to, but not including, 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A standard normal number (Box and Muller 1958), drawn again while beyond `bound`.
    fn normal_within(&mut self, bound: f64) -> f64 {
        loop {
            let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
            let normal = radius * (std::f64::consts::TAU * self.unit()).cos();
            if normal.abs() <= bound {
                return normal;
            }
        }
    }
}

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: Program = Program {
        seed: 7,
        distribution: Distribution::Fixed,
        delay_ns: 1_000_000,
        jitter_ns: 200_000,
        second_mode_per_million: 250_000,
        loss_per_million: 20_000,
        duplicate_per_million: 10_000,
        duplicate_delay_ns: 0,
        reorder_per_million: 50_000,
        reorder_delay_ns: 2_500_000,
        bandwidth_bits_per_s: 0,
        release_spin_ns: 0,
        first_message_ns: 0,
        first_full_message_ns: 0,
    };

    fn fates(distribution: Distribution) -> impl Iterator<Item = Fate> {
        let program = Program {
            distribution,
            ..PROGRAM
        };
        (0..200_000).map(move |sequence| {
            Fate::of(
                &program,
                Identity {
                    channel: 0,
                    publisher: 0,
                    subscriber: 0,
                    sequence,
                },
            )
        })
    }

    /// Delays without those that were held back.
    fn delays(distribution: Distribution) -> Vec<f64> {
        fates(distribution)
            .map(|fate| fate.delay_ns as f64)
            .filter(|delay_ns| *delay_ns < 2_500_000.0)
            .collect()
    }

    fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, variance.sqrt())
    }

    fn assert_near(found: f64, expected: f64, relative: f64) {
        assert!((found / expected - 1.0).abs() < relative, "{found}, not {expected}");
    }

    #[test]
    fn what_happens_does_so_as_often_as_programmed() {
        let fates: Vec<_> = fates(Distribution::Fixed).collect();
        let share = |happens: fn(&Fate) -> bool| fates.iter().filter(|fate| happens(fate)).count() as f64 / 2e5;
        assert_near(share(|fate| fate.lost), 0.02, 0.06);
        assert_near(share(|fate| fate.duplicated), 0.01, 0.08);
        assert_near(share(|fate| fate.delay_ns == 3_500_000), 0.05, 0.04);
        assert_near(share(|fate| fate.delay_ns == 1_000_000), 0.95, 0.01);
    }

    #[test]
    fn delays_are_distributed_as_their_names_say() {
        let (mean, deviation) = mean_and_deviation(&delays(Distribution::Uniform));
        assert_near(mean, 1_100_000.0, 0.001);
        assert_near(deviation, 200_000.0 / 12f64.sqrt(), 0.01);
        let (mean, deviation) = mean_and_deviation(&delays(Distribution::Normal));
        assert_near(mean, 1_000_000.0, 0.001);
        assert_near(deviation, 200_000.0 * 0.9866, 0.01); // what cutting at three deviations leaves
        let (mean, deviation) = mean_and_deviation(&delays(Distribution::Exponential));
        assert_near(mean, 1_200_000.0, 0.002);
        assert_near(deviation, 200_000.0, 0.02);
        let second = delays(Distribution::Bimodal)
            .iter()
            .filter(|delay| **delay > 1_100_000.0)
            .count();
        assert_near(second as f64 / delays(Distribution::Bimodal).len() as f64, 0.25, 0.02);
    }

    #[test]
    fn another_seed_channel_publisher_or_subscriber_has_another_fate() {
        let lost = |seed, channel, publisher, subscriber| -> Vec<bool> {
            let program = Program { seed, ..PROGRAM };
            (0..1000)
                .map(|sequence| {
                    Fate::of(
                        &program,
                        Identity {
                            channel,
                            publisher,
                            subscriber,
                            sequence,
                        },
                    )
                    .lost
                })
                .collect()
        };
        let reference = lost(7, 0, 0, 0);
        assert_eq!(reference, lost(7, 0, 0, 0));
        for other in [lost(8, 0, 0, 0), lost(7, 1, 0, 0), lost(7, 0, 1, 0), lost(7, 0, 0, 1)] {
            assert_ne!(reference, other);
        }
    }

    #[test]
    fn fates_are_those_of_the_documented_formula() {
        // From the Python of docs/middlewares/synthetic.md.
        let expected = [
            (Distribution::Uniform, [1_172_819, 3_681_163, 1_021_898, 1_108_377]),
            (Distribution::Normal, [1_086_597, 3_720_779, 911_443, 819_956]),
            (Distribution::Exponential, [1_399_167, 3_972_508, 1_023_193, 1_156_129]),
            (Distribution::Bimodal, [1_000_000, 3_500_000, 1_000_000, 1_000_000]),
        ];
        for (distribution, delays_ns) in expected {
            let program = Program {
                distribution,
                loss_per_million: 300_000,
                duplicate_per_million: 300_000,
                reorder_per_million: 300_000,
                ..PROGRAM
            };
            for (sequence, delay_ns) in (4..).zip(delays_ns) {
                let identity = Identity {
                    channel: 2,
                    publisher: 1,
                    subscriber: 3,
                    sequence,
                };
                let expected = Fate {
                    lost: false,
                    duplicated: matches!(sequence, 5 | 6),
                    delay_ns,
                };
                assert_eq!(Fate::of(&program, identity), expected, "{distribution:?} {sequence}");
            }
        }
    }
}
