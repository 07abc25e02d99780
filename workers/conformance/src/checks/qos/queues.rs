//! What a queue does when its receiver is slow: a subscriber's process sleeps while its publisher goes on.
//!
//! What is judged follows from counts and samples: which of the messages that were accepted have arrived.

use anyhow::{Context, Result, ensure};
use middlemark_contract::{Congestion, HistoryKind, PublisherCounts};

use crate::case::{Answer, Case};
use crate::checks::delivery::check;
use crate::checks::qos::keep_last;
use crate::outcome::Outcome;
use crate::place::Place;
use crate::process::EndedBySignal;
use crate::request::{Request, periodic};
use crate::trial::{Trial, sleep_until};

/// 25 MB come while the subscriber sleeps: more than the queue and what kernels buffer beside it.
const QUEUE_BYTES: u64 = 1 << 20;
const MESSAGE_BYTES: u64 = 16_384;
const RATE_HZ: f64 = 1000.0;
const WINDOW_NS: u64 = 1_500_000_000;

/// A retransmission may wait for its turn; what was overwritten never comes.
const SETTLING_NS: u64 = 6_000_000_000;

/// The newest so many must survive.
const DEPTH: u32 = 8;

/// With `block` everything that was accepted arrives, though the subscriber slept for less than the patience.
pub(crate) fn block_loses_nothing(case: &Case) -> Result<Answer> {
    if let Some(lacks) = without(case, Congestion::Block).or_else(|| without_pause(case)) {
        return Ok(lacks);
    }
    at_another_instant(|| {
        let place = Place::claim()?;
        let request = more_than_fits(case).qos(|qos| qos.congestion = Congestion::Block);
        let mut trial = Trial::prepare(case, &place, request)?;
        meet(&mut trial)?;
        let end_ns = trial.open_window()?;
        sleep_until(end_ns - WINDOW_NS);
        trial.application("subscriber_0")?.process.pause()?;
        sleep_until(end_ns);
        trial.application("subscriber_0")?.process.resume()?;
        let publishers = trial.published()?;
        let outcome = trial.drain(publishers)?;
        trial.stop()?;
        check(&outcome)?;
        outcome.check_order()?;
        Ok(Answer::Passed)
    })
}

/// With `block` a publisher whose subscriber never wakes comes to its end all the same.
pub(crate) fn patience_ends(case: &Case) -> Result<Answer> {
    if let Some(lacks) = without(case, Congestion::Block) {
        return Ok(lacks);
    }
    at_another_instant(|| {
        let place = Place::claim()?;
        let request = more_than_fits(case).qos(|qos| {
            qos.congestion = Congestion::Block;
            qos.patience_ns = 100_000_000;
        });
        let mut trial = Trial::prepare(case, &place, request)?;
        meet(&mut trial)?;
        publish_asleep(&mut trial)?;
        Ok(Answer::Passed)
    })
}

/// With `keep_last` the newest that were accepted arrive, whatever was overwritten.
pub(crate) fn keep_last_keeps_the_newest(case: &Case) -> Result<Answer> {
    let offered = &case.worker.description.capabilities.histories;
    if !offered.contains(&HistoryKind::KeepLast) {
        return Ok(Answer::Lacks("KeepLast is not among its capabilities".into()));
    }
    if let Some(lacks) = without_pause(case) {
        return Ok(lacks);
    }
    at_another_instant(|| {
        let place = Place::claim()?;
        let request = more_than_fits(case).qos(|qos| keep_last(qos, DEPTH));
        let mut trial = Trial::prepare(case, &place, request)?;
        meet(&mut trial)?;
        let publishers = publish_asleep(&mut trial)?;
        let subscriber = trial.application("subscriber_0")?;
        subscriber.process.resume()?;
        subscriber.wait_published()?;
        let outcome = trial.drain_for(SETTLING_NS, publishers)?;
        trial.stop()?;
        newest_arrived(&outcome)?;
        Ok(Answer::Passed)
    })
}

/// A process that is stopped while it holds a lock of its library in shared memory keeps its peer out, and a peer may die
/// of that: one of Fast DDS does so after a second. At which instant it is stopped is chance, so another one is tried.
fn at_another_instant(attempt: impl Fn() -> Result<Answer>) -> Result<Answer> {
    attempt().or_else(|error| {
        if error.is::<EndedBySignal>() {
            attempt()
        } else {
            Err(error)
        }
    })
}

fn newest_arrived(outcome: &Outcome) -> Result<()> {
    let mut accepted = outcome.accepted_numbers();
    let newest = accepted.split_off(accepted.len().saturating_sub(DEPTH as usize));
    let arrived: Vec<_> = outcome.received.iter().map(|sample| sample.sequence).collect();
    let lost: Vec<_> = newest.iter().filter(|number| !arrived.contains(number)).collect();
    ensure!(
        lost.is_empty() && !newest.is_empty(),
        "of the newest {newest:?} of {} accepted messages {lost:?} did not arrive",
        accepted.len() + newest.len()
    );
    Ok(())
}

fn more_than_fits(case: &Case) -> Request {
    let request = Request::new(case)
        .size(case.fitting(MESSAGE_BYTES))
        .pattern(periodic(RATE_HZ))
        .qos(|qos| qos.queue_bytes = QUEUE_BYTES);
    Request {
        window_ns: WINDOW_NS,
        ..request
    }
}

fn meet(trial: &mut Trial<'_>) -> Result<()> {
    trial.arm_all()?;
    trial.start_all()?;
    trial.meet()
}

/// The rest of the window while the subscriber sleeps.
fn publish_asleep(trial: &mut Trial<'_>) -> Result<Vec<PublisherCounts>> {
    let end_ns = trial.open_window()?;
    sleep_until(end_ns - WINDOW_NS / 2);
    trial.application("subscriber_0")?.process.pause()?;
    trial
        .application("publisher_0")?
        .wait_published()
        .context("its subscriber sleeps")
}

fn without(case: &Case, congestion: Congestion) -> Option<Answer> {
    let offered = case.worker.description.capabilities.congestion.contains(&congestion);
    (!offered).then(|| Answer::Lacks(format!("{congestion:?} is not among its capabilities")))
}

/// A subscriber that takes no more part once it sleeps gets nothing by which this could be judged.
fn without_pause(case: &Case) -> Option<Answer> {
    let reason = case.worker.description.capabilities.lacking_pause.as_ref()?;
    Some(Answer::Lacks(format!("its subscriber can't be paused: {reason}")))
}
