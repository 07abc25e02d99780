//! Whether a worker keeps its word about QoS, and trials apart.

use anyhow::{Context, Result, anyhow};
use middlemark_contract::{Durability, History, Reliability};

use crate::case::{Answer, Case};
use crate::checks::delivery::{carried, check};
use crate::place::Place;
use crate::request::Request;
use crate::trial::Trial;

/// Every value that the description offers is accepted by itself, and messages arrive.
pub(crate) fn every_qos(case: &Case) -> Result<Answer> {
    let offered = &case.worker.description.capabilities;
    for reliability in &offered.reliabilities {
        let request = Request::new(case).qos(|qos| qos.reliability = *reliability);
        carried(case, request).with_context(|| format!("{reliability:?}"))?;
    }
    for durability in &offered.durabilities {
        // What is kept for late joiners is kept of a depth; some middleware keeps nothing without end.
        let depth = History::KeepLast { depth: 100 };
        let request = Request::new(case).qos(|qos| {
            qos.durability = *durability;
            if *durability == Durability::TransientLocal {
                qos.history = depth;
            }
        });
        carried(case, request).with_context(|| format!("{durability:?}"))?;
    }
    for congestion in &offered.congestion {
        let request = Request::new(case).qos(|qos| qos.congestion = *congestion);
        carried(case, request).with_context(|| format!("{congestion:?}"))?;
    }
    // A depth may overwrite what a slow subscriber has not taken yet: nothing is demanded beyond an exact account.
    let place = Place::claim()?;
    let request = Request::new(case).qos(|qos| qos.history = History::KeepLast { depth: 1 });
    let mut outcome = Trial::run(case, &place, request).context("keep last 1")?;
    outcome.request = outcome.request.qos(|qos| qos.reliability = Reliability::BestEffort);
    check(&outcome).context("keep last 1")?;
    Ok(Answer::Passed)
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
