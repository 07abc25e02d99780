//! How far apart two CPUs are: what a cache line takes from one to the other and back.
//!
//! Two threads, one on each, hand it to each other for some milliseconds, without a pause between their looks. A host may
//! move the virtual CPUs of its guests, and all that two CPUs do together then takes a different time; whether it did, the
//! front finds by comparing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use middlemark_runtime::{clock, pin};
use serde::Serialize;

use crate::error::ProbeError;
use crate::statistics::quantile;

const BATCHES: usize = 100;
const ROUND_TRIPS: u64 = 200;
/// Where something else runs on the CPUs, they may wait for each other.
const LONGEST_NS: i64 = 500_000_000;
/// So many looks go by between two readings of the clock.
const LOOKS: u32 = 4096;

/// What was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Distance {
    /// The median over batches of round trips; none where there was no time for a single batch.
    round_trip_ns: Option<f64>,
}

/// What is handed over: a number, alone on its cache line.
#[repr(align(128))]
#[derive(Default)]
struct Line(AtomicU64);

/// How far the second CPU is from the first.
///
/// # Errors
/// One of them is none on which this process may run.
pub(crate) fn measure(first: u32, second: u32) -> Result<Distance, ProbeError> {
    let (line, is_over) = (Line::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        let other = scope.spawn(|| on(second).map(|()| give_back(&line, &is_over)));
        let taken_ns = on(first).map(|()| batches(&line));
        is_over.store(true, Ordering::Release);
        other.join().expect("it does not panic")?;
        Ok(Distance {
            round_trip_ns: quantile(&taken_ns?, 0.5).map(|batch_ns| batch_ns as f64 / ROUND_TRIPS as f64),
        })
    })
}

fn on(cpu: u32) -> Result<(), ProbeError> {
    pin(&[cpu]).map_err(ProbeError::machine(format!("running on CPU {cpu}")))
}

/// Makes each odd number even.
fn give_back(line: &Line, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Acquire) {
        let number = line.0.load(Ordering::Acquire);
        if number % 2 == 1 {
            line.0.store(number + 1, Ordering::Release);
        }
    }
}

/// How long each batch took, the shortest first.
fn batches(line: &Line) -> Vec<i64> {
    let until_ns = clock::now_ns() + LONGEST_NS;
    let mut taken_ns = Vec::with_capacity(BATCHES);
    let mut number = 0;
    while taken_ns.len() < BATCHES {
        let begin_ns = clock::now_ns();
        for _ in 0..ROUND_TRIPS {
            if !comes_back(line, number, until_ns) {
                taken_ns.sort_unstable();
                return taken_ns;
            }
            number += 2;
        }
        taken_ns.push(clock::now_ns() - begin_ns);
    }
    taken_ns.sort_unstable();
    taken_ns
}

/// Hands it over, and waits for it until that instant.
fn comes_back(line: &Line, number: u64, until_ns: i64) -> bool {
    line.0.store(number + 1, Ordering::Release);
    loop {
        for _ in 0..LOOKS {
            if line.0.load(Ordering::Acquire) == number + 2 {
                return true;
            }
        }
        if clock::now_ns() >= until_ns {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_given_back_takes_some_time() {
        let (line, is_over) = (Line::default(), AtomicBool::new(false));
        let taken_ns = thread::scope(|scope| {
            scope.spawn(|| give_back(&line, &is_over));
            let taken_ns = batches(&line);
            is_over.store(true, Ordering::Release);
            taken_ns
        });
        assert!(taken_ns.is_sorted());
        assert!(taken_ns.iter().all(|taken_ns| *taken_ns > 0));
        assert!(line.0.load(Ordering::Acquire) >= 2 * ROUND_TRIPS * taken_ns.len() as u64);
    }

    #[test]
    fn a_line_that_nobody_gives_back_is_not_waited_for_for_ever() {
        assert!(batches(&Line::default()).is_empty());
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named() {
        let error = measure(0, 1023).unwrap_err();
        assert!(error.to_string().starts_with("while running on CPU 1023"), "{error}");
    }
}
