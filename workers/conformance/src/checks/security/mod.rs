//! Whether what a worker says of its security is true: its own applications hear each other, and strangers hear nothing
//! and are not heard.

mod credentials;
mod stranger;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use middlemark_contract::{Identity, Pattern, PatternSpec, SecurityDescription, SecurityLevel};

use crate::case::{Answer, Case};
use crate::checks::security::credentials::Credentials;
use crate::checks::security::stranger::{Stranger, keep_out};
use crate::place::Place;
use crate::request::Request;
use crate::services::Services;
use crate::trial::Trial;

/// Every message passes between applications with credentials, which state the level; nothing of those stays on disk.
pub(crate) fn messages_pass(case: &Case) -> Result<Answer> {
    lacking_levels_are_refused(case)?;
    at_each_level(case, |described| {
        passes(case, Request::new(case).endpoints(2, 2), described.level)
    })
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
    at_each_level(case, |described| {
        passes(case, Request::new(case).pattern(ping_pong), described.level)
    })
}

/// Who has no credentials, those of another trial's authority, or those of another stream neither hears nor is heard.
pub(crate) fn strangers_are_kept_out(case: &Case) -> Result<Answer> {
    at_each_level(case, |described| {
        for stranger in Stranger::ALL {
            let is_one = match stranger {
                Stranger::WithoutCredentials | Stranger::OfAnotherAuthority => {
                    described.identity == Identity::Credentials
                }
                Stranger::OfAnotherStream => described.by_stream && described.identity == Identity::Credentials,
                Stranger::AnotherUser => described.identity == Identity::User,
            };
            if is_one {
                keep_out(case, described.level, stranger).with_context(|| format!("{stranger:?}"))?;
            }
        }
        Ok(())
    })
}

fn at_each_level(case: &Case, check: impl Fn(&SecurityDescription) -> Result<()>) -> Result<Answer> {
    let levels = &case.worker.description.capabilities.security;
    if levels.is_empty() {
        return Ok(Answer::Lacks("no level of security".into()));
    }
    for described in levels {
        check(described).with_context(|| format!("{}", described.level))?;
    }
    Ok(Answer::Passed)
}

/// A trial with credentials, from its services on.
pub(crate) fn secured<'a>(
    case: &'a Case,
    place: &'a Place,
    request: Request,
    credentials: &Credentials,
) -> Result<Trial<'a>> {
    let services = Services::start_secured(case, place, |address| credentials.of_service(address))?;
    let mut trial = Trial::served(case, place, request, services);
    for name in trial.request.applications() {
        trial.security.insert(name.clone(), credentials.of(&name)?);
    }
    Ok(trial)
}

fn passes(case: &Case, request: Request, level: SecurityLevel) -> Result<()> {
    let place = Place::claim()?;
    let credentials = Credentials::made(case, &place, &request, level)?;
    let mut trial = secured(case, &place, request, &credentials)?;
    trial.arm_all()?;
    trial.start_all()?;
    for (name, application) in &trial.applications {
        let stated = application.effective.as_ref().and_then(|effective| effective.security);
        ensure!(
            stated == Some(level),
            "{name} states {stated:?} as its level of security"
        );
    }
    trial.meet()?;
    let outcome = trial.measure()?;
    outcome.check()?;
    trial.stop()?;
    no_key_is_left(&place.rendezvous.folder)
}

fn no_key_is_left(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            no_key_is_left(&path)?;
        } else if path.is_file() {
            let text = fs::read(&path)?;
            let has_key = text.windows(11).any(|part| part == b"PRIVATE KEY");
            ensure!(!has_key, "a private key is left in {}", path.display());
        }
    }
    Ok(())
}

/// A level that the worker says it lacks is refused before anything of it is made.
fn lacking_levels_are_refused(case: &Case) -> Result<()> {
    for lacking in &case.worker.description.capabilities.lacking_security {
        let place = Place::claim()?;
        let error = Credentials::made(case, &place, &Request::new(case), lacking.level).err();
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
