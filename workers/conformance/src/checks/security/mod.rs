//! Whether what a worker says of its security is true: its own applications hear each other, and strangers hear nothing
//! and are not heard. `levels` says of which levels.

mod credentials;
mod levels;
mod stranger;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use middlemark_contract::{Identity, Pattern, PatternSpec, Per, SecurityDescription, SecurityLevel, ServiceNeed};

use crate::application;
use crate::case::{Answer, Case};
use crate::checks::delivery::{overwriting, refused_as};
use crate::checks::requests;
use crate::checks::security::credentials::Credentials;
use crate::checks::security::levels::{at_each_level, otherwise_protected, where_it_is_had, with_services};
use crate::checks::security::stranger::{Stranger, keep_out};
use crate::place::Place;
use crate::request::Request;
use crate::services::{self, Services, calling_for};
use crate::trial::Trial;

/// Every message passes between applications with credentials, which state the level; nothing of those stays on disk.
pub(crate) fn messages_pass(case: &Case) -> Result<Answer> {
    lacking_levels_are_refused(case)?;
    let pass = |case: &Case, described: &SecurityDescription| {
        passes(case, &Request::new(case).endpoints(2, 2), described.level)
    };
    for other in otherwise_protected(case) {
        at_each_level(&other, pass).with_context(|| format!("with {:?}", other.variant.options()))?;
    }
    at_each_level(case, pass)
}

/// The same of a ping-pong, whose answers take a right of their own.
pub(crate) fn answers_pass(case: &Case) -> Result<Answer> {
    if !case
        .worker
        .description
        .capabilities
        .patterns
        .contains(&Pattern::PingPong)
    {
        return Ok(Answer::Lacks("no ping-pong".into()));
    }
    let ping_pong = PatternSpec::PingPong {
        approach_hz: 100.0,
        answer_bytes: case.fitting(1000),
        interval_ns: 1_000_000,
        patience_ns: 1_000_000_000,
        messages: None,
    };
    let asked = Request::new(case).pattern(ping_pong);
    at_each_level(case, |case, described| match passes(case, &asked, described.level) {
        // As without security: an answer that overwrites never waits.
        Err(error) if refused_as(&error, "delivery") => passes(case, &asked.clone().qos(overwriting), described.level),
        outcome => outcome,
    })
}

/// The same of requests and responses, by whatever means they have: each client has the right to ask its own server.
pub(crate) fn requests_pass(case: &Case) -> Result<Answer> {
    let has_any = at_each_level(case, |_, _| Ok(()))?;
    if has_any != Answer::Passed {
        return Ok(has_any);
    }
    requests::where_there_are(case, |case| {
        let pattern = requests::pattern(requests::closed(), case.fitting(1000));
        let asked = Request::new(case).pattern(pattern).endpoints(3, 2);
        at_each_level(case, |case, described| passes(case, &asked, described.level)).map(drop)
    })
}

/// The same of messages that two linked services pass on, where those can be let into each other.
pub(crate) fn linked_services_pass(case: &Case) -> Result<Answer> {
    let needs = &case.worker.description.services;
    let Some(need) = needs.iter().find(|need| need.per == Per::Network) else {
        return Ok(Answer::Lacks("no service that could be linked with another".into()));
    };
    at_each_level(&calling_for(case, need), |served, described| {
        where_it_is_had(until_met(|| passes_through_two(served, need, described.level)))
    })
}

/// Who has no credentials, those of another trial's authority, or those of another stream neither hears nor is heard:
/// between applications that meet by themselves, and where the worker's service brings them together.
pub(crate) fn strangers_are_kept_out(case: &Case) -> Result<Answer> {
    let mut levels = case.worker.description.capabilities.security.iter();
    let is_of_user = levels.any(|described| described.identity == Identity::User);
    if let Some(reason) = is_of_user.then(|| application::nobody_missing(&case.worker)).flatten() {
        return Ok(Answer::Lacks(reason));
    }
    let answer = at_each_level(case, keeps_out)?;
    for other in otherwise_protected(case) {
        at_each_level(&other, keeps_out).with_context(|| format!("with {:?}", other.variant.options()))?;
    }
    match with_services(case) {
        Some(served) if answer == Answer::Passed => at_each_level(&served, |served, described| {
            where_it_is_had(keeps_out(served, described)).context("through the service")
        }),
        _ => Ok(answer),
    }
}

fn keeps_out(case: &Case, described: &SecurityDescription) -> Result<()> {
    for stranger in Stranger::ALL {
        let is_one = match stranger {
            Stranger::WithoutCredentials | Stranger::OfAnotherAuthority => described.identity == Identity::Credentials,
            Stranger::OfAnotherStream => described.by_stream && described.identity == Identity::Credentials,
            Stranger::AnotherUser => described.identity == Identity::User,
        };
        if is_one {
            until_met(|| keep_out(case, described.level, stranger)).with_context(|| format!("{stranger:?}"))?;
        }
    }
    Ok(())
}

/// A trial with credentials, from its services on.
pub(crate) fn secured<'a>(
    case: &'a Case,
    place: &'a Place,
    request: Request,
    credentials: &Credentials,
) -> Result<Trial<'a>> {
    let services = Services::start_secured(case, place, |address| credentials.of_service(address))?;
    with_credentials(Trial::served(case, place, request, services), credentials)
}

fn with_credentials<'a>(mut trial: Trial<'a>, credentials: &Credentials) -> Result<Trial<'a>> {
    for name in trial.request.applications() {
        trial.security.insert(name.clone(), credentials.of(&name)?);
    }
    Ok(trial)
}

/// Not all who should have heard each other have.
#[derive(Debug)]
struct Unmet;

impl fmt::Display for Unmet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not all have met")
    }
}

/// How often a trial is made in which not all meet. There are libraries whose handshake at times never ends where several
/// start at once, which is a result of a campaign and says nothing of who is let in.
const ATTEMPTS: usize = 3;

/// Makes a trial until all have met in it; the last failure where they never do.
fn until_met(attempt: impl Fn() -> Result<()>) -> Result<()> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(error) if error.is::<Unmet>() => {}
            outcome => return outcome,
        }
    }
    attempt()
}

fn passes(case: &Case, request: &Request, level: SecurityLevel) -> Result<()> {
    until_met(|| {
        let place = Place::claim()?;
        let credentials = Credentials::made(case, &place, request, &services::addresses(case), level)?;
        carries_all(secured(case, &place, request.clone(), &credentials)?, &credentials)
    })
}

fn passes_through_two(case: &Case, need: &ServiceNeed, level: SecurityLevel) -> Result<()> {
    let (place, request) = (Place::claim()?, Request::new(case));
    let chain = services::chain(&need.service, 2);
    let credentials = Credentials::made(case, &place, &request, &chain, level)?;
    let services = Services::start_chain(case, &place, chain, |address| credentials.of_service(address))?;
    let trial = Trial::served(case, &place, request, services);
    carries_all(with_credentials(trial, &credentials)?, &credentials)
}

fn carries_all(mut trial: Trial<'_>, credentials: &Credentials) -> Result<()> {
    let place = trial.place;
    trial.arm_all()?;
    trial.start_all()?;
    for (name, application) in &trial.applications {
        let stated = application.effective.as_ref().and_then(|effective| effective.security);
        ensure!(
            stated == Some(credentials.level),
            "{name} states {stated:?} as its level of security"
        );
    }
    trial.meet().context(Unmet)?;
    let outcome = trial.measure()?;
    outcome.check()?;
    trial.stop()?;
    nothing_is_left(&place.rendezvous.folder, credentials)
}

/// Neither a private key, as a library might write one itself, nor any text that was made for the trial.
fn nothing_is_left(folder: &Path, credentials: &Credentials) -> Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            nothing_is_left(&path, credentials)?;
        } else if path.is_file() {
            let left = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            let has_key = left.contains("PRIVATE KEY");
            ensure!(!has_key, "a private key is left in {}", path.display());
            let made = credentials.files().find(|(_, text)| left.contains(text.trim_ascii()));
            let name = made.map(|(name, _)| name);
            ensure!(
                name.is_none(),
                "{name:?} of the credentials is left in {}",
                path.display()
            );
        }
    }
    Ok(())
}

/// A level that the worker says it lacks is refused before anything of it is made.
fn lacking_levels_are_refused(case: &Case) -> Result<()> {
    for lacking in &case.worker.description.capabilities.lacking_security {
        let place = Place::claim()?;
        let error = Credentials::made(case, &place, &Request::new(case), &[], lacking.level).err();
        let refused = error
            .as_ref()
            .and_then(|error| error.downcast_ref::<crate::application::Refused>());
        ensure!(
            refused.is_some_and(|refused| refused.0.capability == "security"),
            "it lacks {}, and answered to a request for its credentials: {error:?}",
            lacking.level
        );
    }
    Ok(())
}
