//! Whether an application survives that its peer is killed outright, in the middle of the window.

pub(crate) mod rejoin;

use anyhow::{Context, Result, ensure};

use crate::case::{Answer, Case};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::request::Request;
use crate::trial::{Trial, sleep_until};

/// The publisher still tells what it sent, the other subscriber still tells what it got.
pub(crate) fn killed_subscriber(case: &Case) -> Result<Answer> {
    let (outcome, killed) = kill(case, Request::new(case).endpoints(1, 2), "subscriber_0")?;
    let publisher = &outcome.publishers[0];
    ensure!(publisher.sent > 0, "nothing was sent: {publisher:?}");
    let survivor = &outcome.subscribers[0];
    let arrived = survivor.received + survivor.late;
    ensure!(
        arrived > 0 && arrived <= u64::from(publisher.sent),
        "after {killed} was killed, {arrived} arrived of {} sent: {survivor:?}",
        publisher.sent
    );
    Ok(Answer::Passed)
}

/// The subscriber still tells what it got of each.
pub(crate) fn killed_publisher(case: &Case) -> Result<Answer> {
    let (outcome, killed) = kill(case, Request::new(case).endpoints(2, 1), "publisher_0")?;
    ensure!(
        outcome.subscribers.len() == 2,
        "one subscriber of two publishers has two counts: {:?}",
        outcome.subscribers
    );
    let survivor = &outcome.publishers[0];
    let of_survivor = outcome
        .subscribers
        .iter()
        .find(|counts| counts.publisher == survivor.publisher);
    let counts = of_survivor.context("no counts of the publisher that survived")?;
    let arrived = counts.received + counts.late;
    ensure!(
        arrived > 0 && arrived <= u64::from(survivor.sent),
        "after {killed} was killed, {arrived} arrived of {} sent: {counts:?}",
        survivor.sent
    );
    Ok(Answer::Passed)
}

pub(super) fn kill<'a>(case: &Case, request: Request, victim: &'a str) -> Result<(Outcome, &'a str)> {
    let place = Place::claim()?;
    let window_ns = request.window_ns;
    let mut trial = Trial::prepare(case, &place, request)?;
    trial.arm_all()?;
    trial.start_all()?;
    trial.meet()?;
    let end_ns = trial.open_window()?;
    sleep_until(end_ns - window_ns / 2);
    let traces = trial.traces();
    trial.application(victim)?.process.kill()?;
    trial.applications.remove(victim);
    let publishers = trial
        .published()
        .with_context(|| format!("{victim} was killed in the window"))?;
    let outcome = trial
        .drain_briefly(publishers)
        .with_context(|| format!("{victim} was killed in the window"))?;
    trial
        .stop()
        .with_context(|| format!("{victim} was killed in the window"))?;
    traces.remove(&place);
    Ok((outcome, victim))
}
