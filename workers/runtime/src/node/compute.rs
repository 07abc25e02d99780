//! Computing: draws how long from a distribution and really spends it as CPU time of the calling thread.
//!
//! It neither sleeps nor reads the wall clock: a thread that is preempted computes on afterwards. How many rounds of
//! arithmetic a nanosecond takes is measured beforehand and corrected with each step, as the CPU's frequency changes.

use std::hint::black_box;

use middlemark_contract::ComputeSpec;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand_distr::{Distribution, Exp, LogNormal, Normal, Uniform};

use crate::message::payload::split_mix;

/// The CPU time between two looks at the thread's clock, each of which is a system call.
const STEP_NS: i64 = 20_000;
/// CPU time spent on measuring the speed.
const CALIBRATION_NS: i64 = 1_000_000;

/// The rounds of arithmetic that fit into a nanosecond of this thread's CPU time, as measured now.
pub(crate) fn rounds_per_ns() -> f64 {
    const BATCH: u64 = 10_000;
    let begin_ns = spent_ns();
    let mut rounds = 0;
    loop {
        churn(BATCH);
        rounds += BATCH;
        let took_ns = spent_ns() - begin_ns;
        if took_ns >= CALIBRATION_NS {
            return rounds as f64 / took_ns as f64;
        }
    }
}

/// The computation of one node.
pub(crate) struct Computation {
    time: Time,
    generator: SmallRng,
    rounds_per_ns: f64,
}

enum Time {
    Constant(f64),
    Uniform(Uniform<f64>),
    Exponential(Exp<f64>),
    Normal(Normal<f64>),
    Lognormal(LogNormal<f64>),
}

impl Computation {
    /// # Errors
    /// What is wrong with the distribution's figures.
    pub(crate) fn new(spec: ComputeSpec, seed: u64, rounds_per_ns: f64) -> Result<Computation, String> {
        let time = match spec {
            ComputeSpec::Constant { time_ns } => Time::Constant(time_ns as f64),
            ComputeSpec::Uniform { minimum_ns, maximum_ns } => {
                Uniform::new_inclusive(minimum_ns as f64, maximum_ns as f64)
                    .map(Time::Uniform)
                    .map_err(|error| error.to_string())?
            }
            ComputeSpec::Exponential { mean_ns } => Exp::new(1.0 / mean_ns as f64)
                .map(Time::Exponential)
                .map_err(|error| error.to_string())?,
            ComputeSpec::Normal { mean_ns, deviation_ns } => Normal::new(mean_ns as f64, deviation_ns as f64)
                .map(Time::Normal)
                .map_err(|error| error.to_string())?,
            ComputeSpec::Lognormal { mean_ns, deviation_ns } => {
                LogNormal::from_mean_cv(mean_ns as f64, deviation_ns as f64 / (mean_ns as f64).max(1.0))
                    .map(Time::Lognormal)
                    .map_err(|error| error.to_string())?
            }
        };
        Ok(Computation {
            time,
            generator: SmallRng::seed_from_u64(seed),
            rounds_per_ns,
        })
    }

    /// Spends the time of one execution.
    pub(crate) fn run(&mut self) {
        let budget_ns = self.draw_ns();
        self.spend(budget_ns);
    }

    fn draw_ns(&mut self) -> i64 {
        let drawn_ns = match &self.time {
            Time::Constant(time_ns) => *time_ns,
            Time::Uniform(times) => times.sample(&mut self.generator),
            Time::Exponential(times) => times.sample(&mut self.generator),
            Time::Normal(times) => times.sample(&mut self.generator),
            Time::Lognormal(times) => times.sample(&mut self.generator),
        };
        drawn_ns.max(0.0).round() as i64
    }

    fn spend(&mut self, budget_ns: i64) {
        if budget_ns == 0 {
            return;
        }
        let begin_ns = spent_ns();
        let mut before_ns = begin_ns;
        while before_ns - begin_ns < budget_ns {
            let step_ns = (budget_ns - (before_ns - begin_ns)).min(STEP_NS);
            let rounds = (step_ns as f64 * self.rounds_per_ns).max(1.0);
            churn(rounds as u64);
            let now_ns = spent_ns();
            if step_ns == STEP_NS {
                self.correct(rounds / (now_ns - before_ns).max(1) as f64);
            }
            before_ns = now_ns;
        }
    }

    /// Follows the speed slowly, so that one step with an interrupt in it does not shorten the next.
    fn correct(&mut self, seen: f64) {
        self.rounds_per_ns += (seen - self.rounds_per_ns) / 8.0;
    }
}

/// The CPU time that this thread has spent so far.
fn spent_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; every thread has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn churn(rounds: u64) {
    let mut state = black_box(rounds);
    let mut sum = 0u64;
    for _ in 0..rounds {
        sum ^= split_mix(&mut state);
    }
    black_box(sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computation(spec: ComputeSpec) -> Computation {
        Computation::new(spec, 7, rounds_per_ns()).unwrap()
    }

    fn mean_and_deviation(spec: ComputeSpec) -> (f64, f64) {
        const DRAWS: u32 = 20_000;
        let mut computation = Computation::new(spec, 7, 1.0).unwrap();
        let drawn: Vec<f64> = (0..DRAWS).map(|_| computation.draw_ns() as f64).collect();
        let mean = drawn.iter().sum::<f64>() / f64::from(DRAWS);
        let variance = drawn.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / f64::from(DRAWS);
        (mean, variance.sqrt())
    }

    fn is_near(value: f64, wanted: f64) -> bool {
        (value - wanted).abs() < 0.03 * wanted
    }

    #[test]
    fn what_is_asked_for_is_spent_as_cpu_time_of_the_thread() {
        for time_ns in [5_000, 300_000, 20_000_000] {
            let mut computation = computation(ComputeSpec::Constant { time_ns });
            let begin_ns = spent_ns();
            computation.run();
            let spent_ns = spent_ns() - begin_ns;
            // It never falls short; beyond it go at most one step too long and the looks at the clock.
            let most_ns = time_ns as i64 + time_ns as i64 / 10 + 2 * STEP_NS;
            assert!((time_ns as i64..most_ns).contains(&spent_ns), "{spent_ns} of {time_ns}");
        }
    }

    #[test]
    fn computing_is_no_waiting() {
        // Two threads on one CPU need the sum of both times of the clock on the wall, and each has had its own share.
        let begin_ns = crate::clock::now_ns();
        let both: Vec<_> = (0..2)
            .map(|_| {
                std::thread::spawn(|| {
                    crate::process::placement::apply(&middlemark_contract::Placement {
                        cpus: vec![0],
                        scheduling: middlemark_contract::Scheduling::Other,
                        spin_ns: 0,
                    })
                    .unwrap();
                    computation(ComputeSpec::Constant { time_ns: 20_000_000 }).run();
                })
            })
            .collect();
        for thread in both {
            thread.join().unwrap();
        }
        assert!(crate::clock::now_ns() - begin_ns >= 40_000_000);
    }

    #[test]
    fn times_have_the_mean_and_the_deviation_of_their_distribution() {
        let (mean, deviation) = mean_and_deviation(ComputeSpec::Uniform {
            minimum_ns: 1000,
            maximum_ns: 3000,
        });
        assert!(is_near(mean, 2000.0) && is_near(deviation, 2000.0 / 12f64.sqrt()));
        let (mean, deviation) = mean_and_deviation(ComputeSpec::Exponential { mean_ns: 700_000 });
        assert!(is_near(mean, 7e5) && is_near(deviation, 7e5), "{mean} {deviation}");
        let (mean, deviation) = mean_and_deviation(ComputeSpec::Normal {
            mean_ns: 8_000_000,
            deviation_ns: 1_000_000,
        });
        assert!(is_near(mean, 8e6) && is_near(deviation, 1e6));
        let (mean, deviation) = mean_and_deviation(ComputeSpec::Lognormal {
            mean_ns: 5_000_000,
            deviation_ns: 2_000_000,
        });
        assert!(is_near(mean, 5e6) && is_near(deviation, 2e6), "{mean} {deviation}");
    }

    #[test]
    fn the_same_seed_draws_the_same_times() {
        let spec = ComputeSpec::Normal {
            mean_ns: 1000,
            deviation_ns: 100,
        };
        let draws = |seed| {
            let mut computation = Computation::new(spec, seed, 1.0).unwrap();
            [(); 5].map(|()| computation.draw_ns())
        };
        assert_eq!(draws(3), draws(3));
        assert_ne!(draws(3), draws(4));
    }
}
