//! Whether an application that was killed within the window can be started again and takes part in what is left of it.

use anyhow::{Context, Result, ensure};

use crate::case::{Answer, Case};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::request::Request;
use crate::trial::{Trial, sleep_until};

/// Long enough for the slowest middleware to find its peer again (over shared memory Fast DDS takes 4 s).
const WINDOW_NS: u64 = 10_000_000_000;

/// The new subscriber gets messages of the window, none of them twice.
pub(crate) fn subscriber(case: &Case) -> Result<Answer> {
    let outcome = comes_back(case, "subscriber_0")?;
    ensure!(
        outcome.publishers.len() == 1 && outcome.subscribers.len() == 1,
        "one publisher, one subscriber: {:?} {:?}",
        outcome.publishers,
        outcome.subscribers
    );
    let subscriber = &outcome.subscribers[0];
    let arrived = subscriber.received + subscriber.late;
    ensure!(
        arrived > 0 && arrived < u64::from(outcome.publishers[0].sent) && subscriber.duplicates == 0,
        "the new subscriber got {arrived} of {}: {subscriber:?}",
        outcome.publishers[0].sent
    );
    Ok(Answer::Passed)
}

/// The subscriber gets messages of both, and none of the second's has a number of the first's.
pub(crate) fn publisher(case: &Case) -> Result<Answer> {
    let outcome = comes_back(case, "publisher_0")?;
    let (publisher, subscriber) = (&outcome.publishers[0], &outcome.subscribers[0]);
    let (first, last) = outcome
        .published_numbers()
        .context("the new publisher recorded nothing")?;
    ensure!(
        first > 0 && last - first + 1 == publisher.intended,
        "the new publisher numbered its messages {first} to {last}: {publisher:?}"
    );
    ensure!(
        subscriber.duplicates == 0 && subscriber.corrupt == 0,
        "messages of the two publishers have the same numbers: {subscriber:?}"
    );
    let (of_the_first, of_the_second) = outcome.received_before_and_from(first);
    ensure!(
        of_the_first > 0 && of_the_second > 0,
        "{of_the_first} messages of the killed publisher came and {of_the_second} of the new one"
    );
    Ok(Answer::Passed)
}

fn comes_back(case: &Case, victim: &str) -> Result<Outcome> {
    let place = Place::claim()?;
    let request = Request {
        window_ns: WINDOW_NS,
        ..Request::new(case)
    };
    let mut trial = Trial::prepare(case, &place, request)?;
    trial.arm_all()?;
    trial.start_all()?;
    trial.meet()?;
    let end_ns = trial.open_window()?;
    sleep_until(end_ns - WINDOW_NS + 200_000_000);
    let traces = trial.traces();
    trial.application(victim)?.process.kill()?;
    trial.applications.remove(victim);
    rejoin(&mut trial, victim, end_ns)
        .with_context(|| format!("{victim} was killed in the window and started again"))?;
    let publishers = trial.published()?;
    let outcome = trial.drain_briefly(publishers)?;
    trial.stop()?;
    traces.remove(&place);
    Ok(outcome)
}

/// As a front does it: the same spec, `start`, and `measure` with the trial's own window.
fn rejoin(trial: &mut Trial, victim: &str, end_ns: u64) -> Result<()> {
    trial.arm(&[victim.into()])?;
    trial.start(&[victim.into()])?;
    trial.measure_until(victim, end_ns)?;
    if victim.starts_with("subscriber") {
        trial.hear(true)?;
    }
    Ok(())
}
