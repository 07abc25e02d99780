//! Checks one after the other: each has a laboratory of its own, and would take the CPU of those beside it.
//!
//! Where no laboratory can be had, they are shown as ignored, with the reason.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// Fails with what is not as it should be.
pub type Check<Lab> = fn(&Lab) -> Result<(), Failed>;

/// Runs the checks, and one trial more that needs no laboratory.
pub fn run<Lab: 'static>(
    checks: impl IntoIterator<Item = (&'static str, Check<Lab>)>,
    make: fn() -> Result<Lab, String>,
    besides: Trial,
) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let reason = make().err();
    let mut trials: Vec<Trial> = checks
        .into_iter()
        .map(|(name, check)| {
            let trial = Trial::test(name, move || check(&make()?));
            match &reason {
                Some(reason) => trial.with_kind(reason.clone()).with_ignored_flag(true),
                None => trial,
            }
        })
        .collect();
    trials.push(besides);
    libtest_mimic::run(&arguments, trials).exit_code()
}
