//! Whether clients and servers do what the pattern `request_response` says: every request answered once, by its own server, and
//! what is late, refused or unanswered counted as such.

mod observed;

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use middlemark_contract::{Arrival, ComputeSpec, PaceSpec, Pattern, PatternSpec, PublisherCounts};

use crate::case::{Answer, Case};
use crate::checks::delivery::{carried, check};
use crate::checks::faults;
use crate::checks::requests::observed::{ends, in_order_of_time, most_under_way, requests, responses};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::request::Request;
use crate::trial::Trial;

const MILLISECOND_NS: u64 = 1_000_000;

/// A closed loop.
pub(crate) fn closed() -> PaceSpec {
    PaceSpec::Closed { approach_hz: 100.0 }
}

fn open(rate_hz: f64) -> PaceSpec {
    PaceSpec::Open {
        rate_hz,
        arrival: Arrival::Fixed,
    }
}

/// Requests at this pace, answered at once and in time: four at once in a closed loop, as many as come in an open one, as a
/// busy machine may let them wait.
pub(crate) fn pattern(pace: PaceSpec, response_bytes: u64) -> PatternSpec {
    PatternSpec::RequestResponse {
        pace,
        response_bytes,
        outstanding: match pace {
            PaceSpec::Open { .. } => 1000,
            PaceSpec::Closed { .. } => 4,
        },
        timeout_ns: 20_000 * MILLISECOND_NS,
        server_time: ComputeSpec::Constant { time_ns: 0 },
        seed: 7,
    }
}

/// The same with other bounds.
fn bounded(pace: PaceSpec, server_ms: u64, most_under_way: u32, timeout_ms: u64) -> PatternSpec {
    match pattern(pace, 64) {
        PatternSpec::RequestResponse {
            pace,
            response_bytes,
            seed,
            ..
        } => PatternSpec::RequestResponse {
            pace,
            response_bytes,
            seed,
            outstanding: most_under_way,
            timeout_ns: timeout_ms * MILLISECOND_NS,
            server_time: ComputeSpec::Constant {
                time_ns: server_ms * MILLISECOND_NS,
            },
        },
        other => other,
    }
}

/// Where a worker has no servers, this check is left out.
pub(crate) fn where_there_are(case: &Case, check: impl Fn(&Case) -> Result<()>) -> Result<Answer> {
    let has = &case.worker.description.capabilities;
    let overwrites = has.histories.contains(&middlemark_contract::HistoryKind::KeepLast);
    if !has.patterns.contains(&Pattern::RequestResponse) {
        return Ok(Answer::Lacks(
            "the pattern request_response is not among its capabilities".into(),
        ));
    }
    match check(case) {
        // A response that may wait is more than some threads of libraries can give; one that overwrites never waits.
        Err(error) if crate::checks::delivery::refused_as(&error, "delivery") && overwrites => check(&Case {
            overwriting: true,
            ..case.clone()
        }),
        outcome => outcome,
    }
    .map(|()| Answer::Passed)
}

fn request(case: &Case, pattern: PatternSpec) -> Request {
    Request::new(case).size(case.fitting(64)).pattern(pattern)
}

/// An open loop over the whole window: no request is left out, each has its response.
pub(crate) fn every_one(case: &Case) -> Result<Answer> {
    where_there_are(case, |case| {
        let outcome = carried(case, request(case, pattern(open(200.0), case.fitting(64))))?;
        let intended = outcome.publishers[0].intended;
        ensure!(intended == 100, "200 Hz over 0.5 s are 100 requests, not {intended}");
        ensure!(
            responses(&outcome).count() == 1,
            "one client has one count of responses: {:?}",
            outcome.subscribers
        );
        in_order_of_time(&outcome)
    })
}

/// Client k asks server k modulo 2, and only that one.
pub(crate) fn several_ends(case: &Case) -> Result<Answer> {
    where_there_are(case, |case| {
        let request = request(case, pattern(open(100.0), case.fitting(64))).endpoints(3, 2);
        let outcome = carried(case, request)?;
        for counts in &outcome.subscribers {
            ensure!(
                counts.subscriber == counts.publisher % 2,
                "asked another server: {counts:?}"
            );
        }
        in_order_of_time(&outcome)
    })
}

/// A closed loop never has more under way than it may, and as many where nothing hinders it.
pub(crate) fn several_under_way(case: &Case) -> Result<Answer> {
    where_there_are(case, |case| {
        let outcome = carried(case, request(case, bounded(closed(), 1, 3, 20_000)))?;
        let most = most_under_way(&outcome);
        ensure!(
            most == 3,
            "3 requests under way were asked for, there were {most} at most"
        );
        in_order_of_time(&outcome)
    })
}

pub(crate) fn another_size(case: &Case) -> Result<Answer> {
    where_there_are(case, |case| {
        for (size_bytes, response_bytes) in [(64, 20_000), (20_000, 32)] {
            let pattern = pattern(open(100.0), case.fitting(response_bytes));
            let request = Request::new(case).size(case.fitting(size_bytes)).pattern(pattern);
            carried(case, request).with_context(|| format!("{response_bytes} bytes for {size_bytes}"))?;
        }
        Ok(())
    })
}

/// What the server computes lies between the receipt of the request and the hand-over of the response.
pub(crate) fn server_time(case: &Case) -> Result<Answer> {
    where_there_are(case, |case| {
        let outcome = carried(case, request(case, bounded(open(50.0), 5, 1000, 20_000)))?;
        let received: BTreeMap<_, _> = requests(&outcome)
            .map(|sample| (sample.sequence, sample.received_ns))
            .collect();
        for response in outcome.received.iter().filter(|sample| sample.answer == 1) {
            let received_ns = received
                .get(&response.sequence)
                .with_context(|| format!("a response to no request: {response:?}"))?;
            let took_ns = response.sent_ns - received_ns;
            ensure!(
                took_ns >= 5 * MILLISECOND_NS as i64,
                "the server was to compute 5 ms, and answered after {took_ns} ns: {response:?}"
            );
        }
        Ok(())
    })
}

/// Responses that come behind the timeout are late, and no reason to wait: the next request is sent. A middleware may bound how
/// many overdue ones it waits for, so that each is to come only where there are few.
pub(crate) fn late(case: &Case) -> Result<Answer> {
    where_there_are(case, |case| {
        let few = carried(case, request(case, bounded(open(6.0), 15, 1000, 10)))?;
        none_in_time(&few)?;
        let place = Place::claim()?;
        let many = Trial::run(case, &place, request(case, bounded(closed(), 15, 1, 10)))?;
        many.check_complete()?;
        many.check_samples()?;
        let client = none_in_time(&many)?;
        ensure!(
            client.sent >= 10,
            "after each timeout the next request is sent: {client:?}"
        );
        Ok(())
    })
}

fn none_in_time(outcome: &Outcome) -> Result<&PublisherCounts> {
    let (client, counts) = ends(outcome)?;
    ensure!(
        counts.received == 0 && counts.late <= u64::from(client.sent),
        "no response can be in time where the server computes longer than the timeout: {counts:?} {client:?}"
    );
    Ok(client)
}

/// In an open loop a request that would be one too many is refused by the client, and counted so.
pub(crate) fn beyond_outstanding(case: &Case) -> Result<Answer> {
    where_there_are(case, |case| {
        let place = Place::claim()?;
        let outcome = Trial::run(case, &place, request(case, bounded(open(200.0), 20, 1, 10_000)))?;
        outcome.check_complete()?;
        outcome.check_samples()?;
        let (client, counts) = ends(&outcome)?;
        ensure!(
            client.intended == 100 && client.refused > 0 && client.intended == client.sent + client.refused,
            "of 100 requests, 5 ms apart, most find the one before under way for 20 ms: {client:?}"
        );
        ensure!(
            client
                .refusal
                .as_ref()
                .is_some_and(|reason| reason.contains("outstanding")),
            "refused for another reason: {client:?}"
        );
        ensure!(
            counts.received + counts.late <= u64::from(client.sent),
            "more responses than requests: {counts:?} {client:?}"
        );
        let most = most_under_way(&outcome);
        ensure!(most <= 1, "one request at a time was asked for, there were {most}");
        Ok(())
    })
}

/// The client is there first.
pub(crate) fn late_server(case: &Case) -> Result<Answer> {
    where_there_are(case, |case| {
        let place = Place::claim()?;
        let request = request(case, pattern(open(100.0), case.fitting(64)));
        let mut trial = Trial::prepare(case, &place, request)?;
        for name in ["publisher_0", "subscriber_0"] {
            trial.arm(&[name.into()])?;
            trial.start(&[name.into()])?;
        }
        trial.meet()?;
        let client = trial.applications.get_mut("publisher_0").context("a client")?;
        if client.knows_matches {
            client
                .wait_matched()
                .context("the client of a server that came later")?;
        }
        let outcome = trial.measure()?;
        trial.stop()?;
        check(&outcome)
    })
}

/// The client still tells what it sent and what was answered.
pub(crate) fn killed_server(case: &Case) -> Result<Answer> {
    where_there_are(case, |case| {
        let request = request(case, bounded(open(200.0), 0, 4, 50));
        let (outcome, killed) = faults::kill(case, request, "subscriber_0")?;
        let (client, counts) = ends(&outcome)?;
        ensure!(
            client.intended == 100 && client.intended == client.sent + client.refused + client.unsent,
            "after {killed} was killed, requests are missing: {client:?}"
        );
        let answered = counts.received + counts.late;
        ensure!(
            answered > 0 && answered <= u64::from(client.sent),
            "after {killed} was killed, {answered} of {} requests were answered: {counts:?}",
            client.sent
        );
        Ok(())
    })
}
