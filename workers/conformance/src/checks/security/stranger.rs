//! A stranger in a trial with security: a publisher and a subscriber that the trial has a place for, in the hands of
//! somebody who should have none.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result, ensure};
use middlemark_contract::{ApplicationCommand, ApplicationEvent, Security, SecurityLevel};

use crate::application::Application;
use crate::case::Case;
use crate::checks::security::credentials::Credentials;
use crate::checks::security::{Unmet, secured};
use crate::place::Place;
use crate::request::Request;
use crate::services::addresses;
use crate::trial::{Trial, now_ns};

/// The places of the trial that a stranger takes, beside a publisher and a subscriber of its own.
const TAKEN: [&str; 2] = ["publisher_1", "subscriber_1"];
const OWN: [&str; 2] = ["publisher_0", "subscriber_0"];

/// What makes somebody a stranger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stranger {
    WithoutCredentials,
    OfAnotherAuthority,
    OfAnotherStream,
    AnotherUser,
}

impl Stranger {
    pub(crate) const ALL: [Stranger; 4] = [
        Stranger::WithoutCredentials,
        Stranger::OfAnotherAuthority,
        Stranger::OfAnotherStream,
        Stranger::AnotherUser,
    ];
}

/// Lives through a trial in which strangers take two places, and sees that they neither hear nor are heard. That all
/// places hear each other where nobody is a stranger, `messages_pass` shows.
pub(crate) fn keep_out(case: &Case, level: SecurityLevel, stranger: Stranger) -> Result<()> {
    let place = Place::claim()?;
    if stranger == Stranger::AnotherUser {
        // So that it is the worker that keeps it out, and not the folder.
        fs::set_permissions(&place.rendezvous.folder, Permissions::from_mode(0o1777))?;
    }
    let request = Request::new(case).endpoints(2, 2);
    let credentials = Credentials::made(case, &place, &rights(&request, stranger), &addresses(case), level)?;
    let mut trial = secured(case, &place, request, &credentials)?;
    for (name, security) in shown(case, &trial, &credentials, stranger)? {
        match security {
            None => trial.security.remove(name),
            Some(security) => trial.security.insert(name.into(), security),
        };
    }
    trial.arm(&OWN.map(String::from))?;
    trial.others = TAKEN
        .map(|name| spawn(case, &trial, name, stranger))
        .into_iter()
        .collect::<Result<_>>()?;
    trial
        .others
        .iter_mut()
        .try_for_each(|each| each.process.say(&ApplicationCommand::Start { at_ns: now_ns() }))?;
    trial.start_all()?;
    trial.meet().context(Unmet)?;
    trial
        .others
        .iter_mut()
        .try_for_each(|each| each.process.say(&ApplicationCommand::Approach))?;
    let end_ns = trial.open_window()?;
    let begin_ns = end_ns - trial.request.window_ns;
    let window = ApplicationCommand::Measure { begin_ns, end_ns };
    trial.others.iter_mut().try_for_each(|each| each.process.say(&window))?;
    is_not_heard(&mut trial)?;
    trial.others.iter_mut().try_for_each(hears_nothing)?;
    trial.stop()
}

/// What the trial's credentials are asked for: of the places that are taken, another stream, where that makes a stranger.
fn rights(request: &Request, stranger: Stranger) -> Request {
    let mut asked = request.clone().and_sizes(&[request.streams[0].size_bytes]);
    let (first, second) = asked.streams.split_at_mut(1);
    if stranger == Stranger::OfAnotherStream {
        for stream in [&mut first[0], &mut second[0]] {
            stream.publishers.truncate(1);
            stream.subscribers.truncate(1);
        }
        second[0].publishers[0].application = TAKEN[0].into();
        second[0].subscribers[0].application = TAKEN[1].into();
    }
    asked
}

/// What the strangers have to show.
fn shown<'n>(
    case: &Case,
    trial: &Trial<'_>,
    credentials: &Credentials,
    stranger: Stranger,
) -> Result<BTreeMap<&'n str, Option<Security>>> {
    let level = credentials.of(OWN[0])?.level;
    let others = Credentials::made(case, trial.place, &trial.request, &addresses(case), level)?;
    let of = |name| match stranger {
        // Another user holds itself to no rule: what keeps it out is with the trial.
        Stranger::WithoutCredentials | Stranger::AnotherUser => Ok((name, None)),
        Stranger::OfAnotherAuthority => Ok((name, Some(others.of(name)?))),
        Stranger::OfAnotherStream => Ok((name, Some(credentials.of(name)?))),
    };
    TAKEN.into_iter().map(of).collect()
}

/// Starts a stranger, which need not be able to start.
fn spawn(case: &Case, trial: &Trial<'_>, name: &str, stranger: Stranger) -> Result<Application> {
    let number = trial.request.applications().iter().position(|each| each == name);
    let services = trial.services.reached_by(number.context("no such place")?);
    let mut spec = trial.request.spec(case, trial.place, services, name);
    spec.security = trial.security.get(name).cloned();
    match stranger {
        Stranger::AnotherUser => Application::spawn_as_nobody(&case.worker, &spec),
        _ => Application::spawn(&case.worker, &spec),
    }
}

/// Of its own two the trial hears all, of the strangers nothing.
fn is_not_heard(trial: &mut Trial<'_>) -> Result<()> {
    let publishers = trial.published()?;
    let outcome = trial.drain_briefly(publishers)?;
    for counts in &outcome.subscribers {
        let arrived = counts.received + counts.late;
        if counts.publisher == 0 {
            ensure!(arrived > 0, "nothing passes between the trial's own: {counts:?}");
        } else {
            ensure!(arrived == 0, "messages of a stranger arrived: {counts:?}");
        }
        let strange = counts.foreign + counts.corrupt + counts.duplicates;
        ensure!(strange == 0, "messages of a stranger arrived: {counts:?}");
    }
    for (name, application) in &trial.applications {
        let met = application
            .met
            .keys()
            .find(|pairing| pairing.publisher != 0 || pairing.subscriber != 0);
        ensure!(met.is_none(), "{name} has met a stranger: {met:?}");
    }
    Ok(())
}

/// Has a stranger end, in whatever way it does, and looks at all that it said.
fn hears_nothing(stranger: &mut Application) -> Result<()> {
    stranger.process.say(&ApplicationCommand::Stop)?;
    while let Some(event) = stranger
        .process
        .next_until_end::<ApplicationEvent>("the end of a stranger")?
    {
        // Two strangers may well hear each other.
        let heard = match &event {
            ApplicationEvent::FirstMessage(first) | ApplicationEvent::FirstFullMessage(first) => first.publisher == 0,
            _ => false,
        };
        ensure!(
            !heard,
            stranger.process.failure(&format!("a stranger heard: {event:?}"))
        );
    }
    Ok(())
}
