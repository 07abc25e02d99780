//! Whether every way to end is an end: closing leaves nothing, a lost front ends the worker, nobody waits for ever.

use std::net::Ipv4Addr;

use anyhow::{Context, Result, ensure};
use middlemark_contract::{ApplicationCommand, ApplicationEvent, ApplicationSpec, ServiceCommand};

use crate::application::Application;
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

/// A start that something is in the way of: it fails and says why, or it succeeds where the middleware doesn't mind. Either
/// way it ends without a crash, with messages coming in meanwhile too, and leaves nothing.
pub(crate) fn hindered_starts(case: &Case) -> Result<Answer> {
    taken_endpoint(case).context("another process has its second endpoint")?;
    address_of_nobody(case).context("no interface of the machine has its address")?;
    services_gone(case).context("its services are gone")?;
    Ok(Answer::Passed)
}

/// The first of its subscribers receives already when the second turns out to be another process's.
fn taken_endpoint(case: &Case) -> Result<()> {
    let place = Place::claim()?;
    let request = Request::new(case).and_sizes(&[case.fitting(1000)]);
    let mut trial = Trial::prepare(case, &place, request)?;
    trial.arm(&["publisher_0".into()])?;
    trial.start(&["publisher_0".into()])?;
    let services = services::addresses(case);
    let mut spec = trial.request.spec(case, &place, &services, "subscriber_0");
    spec.endpoints.retain(|endpoint| endpoint.stream == "stream_1");
    trial.others.push(Application::spawn(&case.worker, &spec)?);
    let holder = &mut trial.others[0];
    holder.wait_armed()?;
    let at_ns = crate::trial::now_ns();
    holder.process.say(&ApplicationCommand::Start { at_ns })?;
    holder
        .wait_effective(case.worker.delivery(&case.variant))
        .context("the process that has it")?;
    trial.arm(&["subscriber_0".into()])?;
    start_and_end(trial.application("subscriber_0")?)?;
    trial.applications.remove("subscriber_0");
    trial.others[0].stop().context("the process that has it")?;
    let traces = trial.traces();
    trial.stop()?;
    traces.check_gone(&place)
}

fn address_of_nobody(case: &Case) -> Result<()> {
    let place = Place::claim()?;
    let mut request = Request::new(case);
    let address = Ipv4Addr::new(192, 0, 2, 1).into(); // for documentation only (RFC 5737)
    for stream in &mut request.streams {
        let endpoints = stream.publishers.iter_mut().chain(&mut stream.subscribers);
        endpoints.for_each(|endpoint| endpoint.address = address);
    }
    let mut trial = Trial::prepare(case, &place, request)?;
    for name in ["subscriber_0", "publisher_0"] {
        let services = services::addresses(case);
        let spec = ApplicationSpec {
            address,
            ..trial.request.spec(case, &place, &services, name)
        };
        let mut application = Application::spawn(&case.worker, &spec)?;
        application.wait_armed()?;
        start_and_end(&mut application).context(name)?;
    }
    let traces = trial.traces();
    trial.stop()?;
    traces.check_gone(&place)
}

fn services_gone(case: &Case) -> Result<()> {
    if services::needed(case).next().is_none() {
        return Ok(());
    }
    let place = Place::claim()?;
    let mut trial = Trial::prepare(case, &place, Request::new(case))?;
    trial.arm_all()?;
    let traces = trial.traces();
    trial.services.stop()?;
    trial.services.processes.clear();
    trial.applications.values_mut().try_for_each(start_and_end)?;
    trial.applications.clear();
    traces.check_gone(&place)
}

/// Starts an armed application: `failed` with its causes and status 1, or a start that `stop` ends.
fn start_and_end(application: &mut Application) -> Result<()> {
    let at_ns = crate::trial::now_ns();
    application.process.say(&ApplicationCommand::Start { at_ns })?;
    loop {
        match application.process.next("effective or failed")? {
            ApplicationEvent::Initialised { .. } | ApplicationEvent::FirstMessage(_) => {}
            ApplicationEvent::Effective(_) => return application.stop(),
            ApplicationEvent::Failed { causes, .. } => {
                let process = &mut application.process;
                ensure!(!causes.is_empty(), process.failure("failed without a cause"));
                ensure!(
                    process.is_silent("the end of standard output after failed")?,
                    process.failure("said something after failed")
                );
                let status = process.wait_without_crash("its end after failed")?;
                ensure!(
                    status == 1,
                    process.failure(&format!("ended with {status} instead of 1"))
                );
                return Ok(());
            }
            event => return Err(application.process.failure(&format!("said {event:?}"))),
        }
    }
}
