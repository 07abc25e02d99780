//! What an outcome shows of its requests and responses: their counts, their order in time, how many were under way at once.
//!
//! `mod` says which of it is right.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use middlemark_contract::{PublisherCounts, Received, SubscriberCounts};

use crate::outcome::Outcome;

pub(super) fn responses(outcome: &Outcome) -> impl Iterator<Item = &SubscriberCounts> {
    outcome.subscribers.iter().filter(|counts| counts.answers)
}

pub(super) fn requests(outcome: &Outcome) -> impl Iterator<Item = &Received> {
    outcome.received.iter().filter(|sample| sample.answer == 0)
}

/// The counts of the one client, and of its responses.
pub(super) fn ends(outcome: &Outcome) -> Result<(&PublisherCounts, &SubscriberCounts)> {
    let client = outcome.publishers.first().context("no counts of the client")?;
    Ok((client, responses(outcome).next().context("no counts of its responses")?))
}

/// A request is received before its response is sent.
pub(super) fn in_order_of_time(outcome: &Outcome) -> Result<()> {
    let received: BTreeMap<_, _> = requests(outcome)
        .map(|sample| ((sample.publisher, sample.sequence), sample))
        .collect();
    for response in outcome.received.iter().filter(|sample| sample.answer == 1) {
        let request = received
            .get(&(response.publisher, response.sequence))
            .with_context(|| format!("a response to a request that no server has: {response:?}"))?;
        ensure!(
            request.received_ns <= response.sent_ns && request.subscriber == response.subscriber,
            "not the response to its request: {response:?} {request:?}"
        );
    }
    Ok(())
}

/// How many requests of the one client were under way at once.
pub(super) fn most_under_way(outcome: &Outcome) -> i32 {
    let sent = outcome.published.iter().filter(|sample| sample.accepted == 1);
    let answered = outcome.received.iter().filter(|sample| sample.answer == 1);
    // Of one instant, a response frees its place before the next request takes it.
    let mut steps: Vec<_> = sent
        .map(|sample| (sample.sent_ns, 1))
        .chain(answered.map(|sample| (sample.received_ns, -1)))
        .collect();
    steps.sort_unstable();
    steps
        .iter()
        .scan(0, |under_way, (_, step)| {
            *under_way += step;
            Some(*under_way)
        })
        .max()
        .unwrap_or(0)
}
