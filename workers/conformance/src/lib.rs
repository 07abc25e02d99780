//! The one black-box suite that every worker must pass, in whatever language it is written.
//!
//! It starts worker executables and speaks the contract with them over standard input and output; it links no worker,
//! knows no middleware and asserts no maximum time: its deadlines only keep a hang from lasting, and say what they
//! waited for. `checks` says what is demanded, `trial` leads a trial, `process` holds the pipes, `place` keeps trials apart.

mod application;
mod case;
mod checks;
mod outcome;
mod place;
mod process;
mod request;
mod second_try;
mod services;
mod trial;
mod worker;

use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use libtest_mimic::{Arguments, Completion, Failed, Trial as Test};

use crate::case::{Answer, Case};
use crate::checks::{CHECKS, Check};
use crate::second_try::SecondTries;
use crate::worker::{Candidate, Variant};

/// Runs the suite as a test executable: the usual arguments, the usual closing line.
#[must_use]
pub fn run() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert_with(tests_at_once);
    let candidates = worker::find();
    let second_tries = Arc::new(SecondTries::default());
    let tests = if candidates.is_empty() {
        vec![Test::test("workers_are_found", || Err(worker::none_found().into()))]
    } else {
        let tests = candidates.iter().map(|candidate| tests_of(candidate, &second_tries));
        tests.flatten().collect()
    };
    let selected = tests
        .into_iter()
        .filter(|test| is_selected(&arguments, test.name()))
        .collect();
    let conclusion = libtest_mimic::run(&arguments, selected);
    if let Some(second_tries) = second_tries.told() {
        eprintln!("{second_tries}");
    }
    conclusion.exit_code()
}

/// Whether the filter may mean a test: one of several parts, as `udp::`, begins where a part of the name does, so that it
/// selects no `zenoh::transport_udp::…`; what else there is to selecting, libtest does.
fn is_selected(arguments: &Arguments, name: &str) -> bool {
    match &arguments.filter {
        Some(filter) if filter.contains("::") => name.starts_with(filter) || name.contains(&format!("::{filter}")),
        _ => true,
    }
}

/// Several a core, as a test mostly waits for applications to discover each other or for a window to pass; no more than
/// a third of the slots for trials, so that a campaign beside finds some.
fn tests_at_once() -> usize {
    const PER_CORE: usize = 4;
    const MOST: usize = 32;
    (PER_CORE * thread::available_parallelism().map_or(1, NonZero::get)).min(MOST)
}

/// The name and the executable of the first worker that is found.
#[must_use]
pub fn any_worker() -> Option<(String, PathBuf)> {
    worker::find().into_iter().next().map(|found| (found.name, found.path))
}

/// The tests of one worker, by name: `<middleware>::<variant>::<check>`.
fn tests_of(candidate: &Candidate, second_tries: &Arc<SecondTries>) -> Vec<Test> {
    let worker = match candidate.describe() {
        Ok(worker) => Arc::new(worker),
        Err(error) => {
            let name = format!("{}::description_is_valid", candidate.name);
            return vec![Test::test(name, move || Err(format!("{error:#}").into()))];
        }
    };
    let mut tests = Vec::new();
    for variant in worker.variants() {
        for check in CHECKS.iter().filter(|check| check.scope.holds(&variant)) {
            let name = check.scope.name(&worker.name, &variant, check.name);
            let case = Case {
                worker: Arc::clone(&worker),
                variant: variant.clone(),
                best_effort: false,
                overwriting: false,
            };
            let second_tries = Arc::clone(second_tries);
            tests.push(Test::ignorable_test(name.clone(), move || {
                judge(&case, || {
                    second_tries.tried(&name, || over_its_transport(check, &case), is_failure)
                })
            }));
        }
    }
    tests
}

/// Whether an error says that a check failed, where a refusal says what there is not.
fn is_failure(error: &anyhow::Error) -> bool {
    !error.is::<application::Refused>()
}

fn judge(case: &Case, check: impl FnOnce() -> anyhow::Result<Answer>) -> Result<Completion, Failed> {
    match check() {
        Ok(Answer::Passed) => Ok(Completion::Completed),
        Ok(Answer::Lacks(what)) => Ok(Completion::ignored_with(what)),
        Err(error) => match error.downcast_ref::<application::Refused>() {
            Some(refused) if case.variant.may_be_refused(&refused.0) => {
                Ok(Completion::ignored_with(refused.to_string()))
            }
            _ => Err(format!("{error:#}").into()),
        },
    }
}

/// Makes a check; where the variant's transport refuses to be reliable, with best effort.
fn over_its_transport(check: &Check, case: &Case) -> anyhow::Result<Answer> {
    let is_refused = |error: &anyhow::Error| {
        let refused = error.downcast_ref::<application::Refused>();
        refused.is_some_and(|refused| refused.0.capability == "reliability")
    };
    match (check.run)(case) {
        Err(error) if is_refused(&error) && matches!(case.variant, Variant::Transport { .. }) => (check.run)(&Case {
            best_effort: true,
            ..case.clone()
        }),
        answer => answer,
    }
}
