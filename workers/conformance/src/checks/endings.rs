//! Whether every way to end is an end: closing leaves nothing, a lost front ends the worker, nobody waits for ever.

use anyhow::{Context, Result, ensure};
use middlemark_contract::ServiceCommand;

use crate::case::{Answer, Case};
use crate::checks::delivery::{carried, check};
use crate::place::Place;
use crate::process::Process;
use crate::request::Request;
use crate::services;
use crate::trial::Trial;

/// Twice at the same place: what the first trial left would be in the second's way.
pub(crate) fn closes_and_reopens(case: &Case) -> Result<Answer> {
    let place = Place::claim()?;
    for round in ["the first time", "the second time"] {
        let mut trial = Trial::prepare(case, &place, Request::new(case))?;
        trial.arm_all()?;
        trial.start_all()?;
        trial.meet().context(round)?;
        let outcome = trial.measure().context(round)?;
        let traces = trial.traces();
        trial.stop().context(round)?;
        traces.check_gone(&place).context(round)?;
        check(&outcome).context(round)?;
    }
    Ok(Answer::Passed)
}

/// The front gives a trial up before it has measured.
pub(crate) fn stops_early(case: &Case) -> Result<Answer> {
    let place = Place::claim()?;
    let mut trial = Trial::prepare(case, &place, Request::new(case))?;
    trial.arm_all()?;
    trial.start_all()?;
    let traces = trial.traces();
    trial.stop()?;
    traces.check_gone(&place)?;
    Ok(Answer::Passed)
}

/// The peer never comes: an outcome with counts, not a crash.
pub(crate) fn lonely(case: &Case) -> Result<Answer> {
    for name in ["subscriber_0", "publisher_0"] {
        let place = Place::claim()?;
        let mut trial = Trial::prepare(case, &place, Request::new(case))?;
        trial.arm(&[name.into()])?;
        trial.start(&[name.into()]).context(name)?;
        trial.open_window()?;
        let publishers = trial.published().context(name)?;
        let told = publishers.len();
        ensure!(
            told == usize::from(name == "publisher_0"),
            "{name} told of {told} publishers"
        );
        // Nothing is to be waited for: who should have received was not there.
        let outcome = trial.drain(Vec::new()).context(name)?;
        let received: u64 = outcome.subscribers.iter().map(|counts| counts.received).sum();
        ensure!(received == 0, "{name} received {received} messages of nobody");
        trial.stop().context(name)?;
    }
    Ok(Answer::Passed)
}

/// At each phase of its life, the end of standard input ends an application by itself.
pub(crate) fn end_of_input(case: &Case) -> Result<Answer> {
    let mut silent = case
        .worker
        .spawn("application", &format!("{} application", case.worker.name))?;
    silent.hang_up();
    silent.wait_without_crash("its end after its input ended before the spec")?;
    let phases: [(&str, Phase); 5] = [
        ("armed", |_| Ok(())),
        ("effective", |trial| trial.start_all()),
        ("the first message", |trial| {
            trial.start_all()?;
            trial.meet()
        }),
        ("the window's announcement", |trial| {
            trial.start_all()?;
            trial.meet()?;
            trial.open_window().map(drop)
        }),
        ("done", |trial| {
            trial.start_all()?;
            trial.meet()?;
            trial.measure().map(drop)
        }),
    ];
    for (phase, reach) in phases {
        let place = Place::claim()?;
        let mut trial = Trial::prepare(case, &place, Request::new(case))?;
        trial.arm_all()?;
        reach(&mut trial)?;
        let traces = trial.traces();
        let waiting_for = format!("its end after its input ended after {phase}");
        let applications = trial
            .applications
            .values_mut()
            .map(|application| &mut application.process);
        end(applications.chain(&mut trial.services.processes), &waiting_for)?;
        traces
            .check_gone(&place)
            .with_context(|| format!("input ended after {phase}"))?;
    }
    Ok(Answer::Passed)
}

type Phase = fn(&mut Trial) -> Result<()>;

fn end<'a>(processes: impl Iterator<Item = &'a mut Process>, waiting_for: &str) -> Result<()> {
    let mut processes: Vec<_> = processes.collect();
    for process in &mut processes {
        process.hang_up();
    }
    processes
        .into_iter()
        .try_for_each(|process| process.wait_without_crash(waiting_for).map(drop))
}

/// A service ends with its front too, and by `stop` in the middle of a window.
pub(crate) fn end_of_input_to_a_service(case: &Case) -> Result<Answer> {
    let needs: Vec<_> = services::needed(case).collect();
    if needs.is_empty() {
        return Ok(Answer::Lacks("it needs no service with its profile 'default'".into()));
    }
    let place = Place::claim()?;
    let mut trial = Trial::prepare(case, &place, Request::new(case))?;
    let traces = trial.traces();
    end(
        trial.services.processes.iter_mut(),
        "the service's end after its input ended",
    )?;
    traces.check_gone(&place)?;
    let mut trial = Trial::prepare(case, &place, Request::new(case))?;
    for process in &mut trial.services.processes {
        let begin_ns = crate::trial::now_ns();
        process.say(&ServiceCommand::Measure {
            begin_ns,
            end_ns: begin_ns + 60_000_000_000,
        })?;
    }
    trial.stop().context("stopped in the middle of a window")?;
    carried(case, Request::new(case)).context("after its services had been stopped")?;
    Ok(Answer::Passed)
}
