//! Whether a worker keeps its word about QoS: what it describes it accepts; `queues` asks what a queue does when it is full.

mod queues;

use anyhow::{Context, Result};
use middlemark_contract::{Congestion, Durability, History, HistoryKind, Qos, Reliability};

pub(crate) use queues::{block_loses_nothing, keep_last_keeps_the_newest, patience_ends};

use crate::case::{Answer, Case};
use crate::checks::delivery::{carried, check};
use crate::place::Place;
use crate::request::Request;
use crate::trial::Trial;

/// Every value that the description offers is accepted by itself, and messages arrive.
pub(crate) fn every_qos(case: &Case) -> Result<Answer> {
    let offered = &case.worker.description.capabilities;
    let keeps_last = offered.histories.contains(&HistoryKind::KeepLast);
    for reliability in &offered.reliabilities {
        let request = Request::new(case).qos(|qos| {
            qos.reliability = *reliability;
            if *reliability == Reliability::BestEffort && offered.congestion.contains(&Congestion::Drop) {
                qos.congestion = Congestion::Drop;
            }
        });
        carried(case, request).with_context(|| format!("{reliability:?}"))?;
    }
    for durability in &offered.durabilities {
        // What is kept for late joiners is kept of a depth where there is one; some middleware keeps nothing without end.
        let request = Request::new(case).qos(|qos| {
            qos.durability = *durability;
            if *durability == Durability::TransientLocal && keeps_last {
                keep_last(qos, 100);
            }
        });
        carried(case, request).with_context(|| format!("{durability:?}"))?;
    }
    for congestion in &offered.congestion {
        let request = Request::new(case).qos(|qos| qos.congestion = *congestion);
        carried(case, request).with_context(|| format!("{congestion:?}"))?;
    }
    if !keeps_last {
        return Ok(Answer::Passed);
    }
    // A depth may overwrite what a slow subscriber has not taken yet: nothing is demanded beyond an exact account.
    let place = Place::claim()?;
    let request = Request::new(case).qos(|qos| keep_last(qos, 1));
    let mut outcome = Trial::run(case, &place, request).context("keep last 1")?;
    outcome.request = outcome.request.qos(|qos| qos.reliability = Reliability::BestEffort);
    check(&outcome).context("keep last 1")?;
    Ok(Answer::Passed)
}

fn keep_last(qos: &mut Qos, depth: u32) {
    (qos.history, qos.congestion) = (History::KeepLast { depth }, Congestion::Drop);
}
