//! Whether endpoints find each other, however many there are, wherever they live, whoever comes first, through
//! linked services too; and whether trials keep apart.

use anyhow::{Context, Result, anyhow, ensure};
use middlemark_contract::Per;

use crate::case::{Answer, Case};
use crate::checks::delivery::{carried, check};
use crate::place::Place;
use crate::request::{Request, periodic};
use crate::services::{Services, calling_for, chain};
use crate::trial::{Trial, now_ns};

pub(crate) fn several_endpoints(case: &Case) -> Result<Answer> {
    let outcome = carried(case, Request::new(case).endpoints(2, 2))?;
    ensure!(
        outcome.subscribers.len() == 4,
        "2 publishers and 2 subscribers are 4 pairs: {:?}",
        outcome.subscribers
    );
    Ok(Answer::Passed)
}

pub(crate) fn several_streams(case: &Case) -> Result<Answer> {
    let sizes = [case.fitting(32), case.fitting(20_000)];
    carried(case, Request::new(case).and_sizes(&sizes))?;
    Ok(Answer::Passed)
}

/// As many topics between two processes as a robot may have. Greetings of all of them are on their way before the processes
/// have found each other, and what is missed of these must not keep any topic silent.
pub(crate) fn many_streams(case: &Case) -> Result<Answer> {
    const FURTHER: usize = 63;
    let request = Request::new(case)
        .size(case.fitting(64))
        .pattern(periodic(10.0))
        .and_sizes(&[case.fitting(64); FURTHER]);
    let samples = 1000;
    carried(case, Request { samples, ..request })?;
    Ok(Answer::Passed)
}

pub(crate) fn same_process(case: &Case) -> Result<Answer> {
    if !case.worker.description.capabilities.same_process {
        return Ok(Answer::Lacks("same_process is false among its capabilities".into()));
    }
    carried(case, Request::new(case).together())?;
    Ok(Answer::Passed)
}

pub(crate) fn late_subscriber(case: &Case) -> Result<Answer> {
    joins_late(case, "publisher_0", "subscriber_0")
}

pub(crate) fn late_publisher(case: &Case) -> Result<Answer> {
    joins_late(case, "subscriber_0", "publisher_0")
}

/// The second application's process is only started when the first runs with its endpoint.
fn joins_late(case: &Case, first: &str, second: &str) -> Result<Answer> {
    let place = Place::claim()?;
    let mut trial = Trial::prepare(case, &place, Request::new(case))?;
    for name in [first, second] {
        trial.arm(&[name.into()])?;
        trial
            .start(&[name.into()])
            .with_context(|| format!("starting {name}, {first} first"))?;
    }
    trial.meet()?;
    let outcome = trial.measure()?;
    trial.stop()?;
    check(&outcome)?;
    Ok(Answer::Passed)
}

/// A message comes so rarely that one which is sent before the subscriber is there is never followed by another: only
/// greetings can be heard, and then the first message of the full size, which is sent at once.
pub(crate) fn rare_messages(case: &Case) -> Result<Answer> {
    const PER_HOUR_HZ: f64 = 1.0 / 3600.0;
    let place = Place::claim()?;
    let mut trial = Trial::prepare(case, &place, Request::new(case).pattern(periodic(PER_HOUR_HZ)))?;
    for name in ["publisher_0", "subscriber_0"] {
        trial.arm(&[name.into()])?;
        trial.start(&[name.into()])?;
    }
    trial.meet()?;
    trial.stop()?;
    Ok(Answer::Passed)
}

/// The parts of the time to first message come in their order: a publisher knows of the subscriber (where it can), the first
/// message arrives, then the first of full size.
pub(crate) fn first_messages(case: &Case) -> Result<Answer> {
    // On a busy machine the thread that tells a match may be stopped on its way while a greeting goes out; not each time.
    const TRIALS: usize = 4;
    for _ in 1..TRIALS {
        if is_in_order(&parts(case)?).is_ok() {
            return Ok(Answer::Passed);
        }
    }
    is_in_order(&parts(case)?).map(|()| Answer::Passed)
}

fn is_in_order(instants: &[(&str, u64)]) -> Result<()> {
    for pair in instants.windows(2) {
        let [(before, before_ns), (after, after_ns)] = pair else {
            continue;
        };
        ensure!(
            before_ns <= after_ns,
            "{after} at {after_ns}, which is before {before} at {before_ns}"
        );
    }
    Ok(())
}

/// The instants of a trial's beginning that are told, as they should follow each other.
fn parts(case: &Case) -> Result<Vec<(&'static str, u64)>> {
    let place = Place::claim()?;
    let mut trial = Trial::prepare(case, &place, Request::new(case))?;
    trial.arm_all()?;
    let mut instants = vec![("the command to start", now_ns())];
    trial.start_all()?;
    trial.meet()?;
    let publisher = trial.applications.get_mut("publisher_0").context("a publisher")?;
    if publisher.knows_matches {
        instants.push(("matched", publisher.wait_matched()?));
    }
    let subscriber = trial.applications.get("subscriber_0").context("a subscriber")?;
    let met_ns = |is_full| {
        let found = subscriber.met.iter().find(|(pairing, _)| pairing.is_full == is_full);
        found.map(|(_, received_ns)| *received_ns)
    };
    instants.push(("first_message", met_ns(false).context("met")?));
    instants.push(("first_full_message", met_ns(true).context("met")?));
    trial.stop()?;
    Ok(instants)
}

/// Two trials with names, domains and ports of their own run side by side; neither hears the other.
pub(crate) fn two_trials(case: &Case) -> Result<Answer> {
    let (one, other) = (Place::claim()?, Place::claim()?);
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| Trial::run(case, &one, Request::new(case)));
        let second = Trial::run(case, &other, Request::new(case));
        (first.join(), second)
    });
    let first = first.map_err(|_| anyhow!("the first trial's thread panicked"))?;
    check(&first.context("the first trial")?).context("the first trial")?;
    check(&second.context("the second trial")?).context("the second trial")?;
    Ok(Answer::Passed)
}

/// Two in a row, and three, each application at a service of its own: all arrives, once, at the ends and in between.
pub(crate) fn linked_services(case: &Case) -> Result<Answer> {
    let needs = &case.worker.description.services;
    let Some(need) = needs.iter().find(|need| need.per == Per::Network) else {
        return Ok(Answer::Lacks(
            "it needs no service that could be linked with another".into(),
        ));
    };
    let served = calling_for(case, need);
    for subscribers in [1, 2] {
        let request = Request::new(case).endpoints(1, subscribers);
        let place = Place::claim()?;
        let services = Services::start_chain(&served, &place, chain(&need.service, subscribers + 1), |_| None)?;
        let links = format!("{} services in a chain", subscribers + 1);
        let outcome = Trial::served(&served, &place, request, services)
            .live()
            .with_context(|| links.clone())?;
        check(&outcome).context(links)?;
    }
    Ok(Answer::Passed)
}
