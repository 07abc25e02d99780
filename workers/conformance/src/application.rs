//! One application as the front sees it: commands in, events out, and what it has told so far.
//!
//! It knows the order of events that the contract fixes; `trial` decides which command comes when.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Result, ensure};
use middlemark_contract::{
    ApplicationCommand, ApplicationEvent, ApplicationSpec, Delivery, Effective, FirstArrival, Identity, Matching,
    PathProof, PublisherCounts, Refusal, SubscriberCounts,
};

use crate::process::Process;
use crate::worker::Worker;

/// The refusal of a spec, as an error that a check can recognise.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) Refusal);

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "refused by `{}`: {}", self.0.capability, self.0.reason)
    }
}

impl std::error::Error for Refused {}

/// A publisher and a subscriber that have met, one way, by a message of any size or of the full one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pairing {
    pub(crate) stream: String,
    /// Whether the way back is meant: of the subscriber's answers to the publisher that asks.
    pub(crate) answers: bool,
    pub(crate) publisher: u16,
    pub(crate) subscriber: u16,
    pub(crate) is_full: bool,
}

impl Pairing {
    fn of(first: FirstArrival, is_full: bool) -> Pairing {
        Pairing {
            stream: first.stream,
            answers: first.answers,
            publisher: first.publisher,
            subscriber: first.subscriber,
            is_full,
        }
    }
}

/// The user that Linux has for who owns nothing.
const NOBODY: u32 = 65534;

/// Why no process of that user can be started here; none where one can.
pub(crate) fn nobody_missing(worker: &Worker) -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("only root can start an application of another user".into());
    }
    let started = Process::spawn_as(NOBODY, &worker.path, "describe", "a worker of another user");
    started
        .err()
        .map(|error| format!("no other user can run the worker: {error:#}"))
}

/// Whether a publisher of this spec is to tell how long its handshake took.
fn tells_handshakes(worker: &Worker, spec: &ApplicationSpec) -> bool {
    let level = spec.security.as_ref().map(|security| security.level);
    let mut levels = worker.description.capabilities.security.iter();
    levels.any(|described| {
        Some(described.level) == level
            && described.identity == Identity::Credentials
            && described.handshake_untold.is_none()
    })
}

/// A started application.
pub(crate) struct Application {
    pub(crate) process: Process,
    pub(crate) effective: Option<Effective>,
    /// What it told of its path when it was done.
    pub(crate) path: Option<PathProof>,
    /// When the first message of each came.
    pub(crate) met: BTreeMap<Pairing, u64>,
    /// When each of its publishers knew of a subscriber: by stream, whether it answers, and index.
    matched: BTreeMap<(String, bool, u16), u64>,
    /// Whether its description says that a publisher comes to know.
    pub(crate) knows_matches: bool,
    /// Whether it says so of how long the handshake before that took.
    tells_handshakes: bool,
}

/// What an application tells after the drain.
pub(crate) struct Done {
    pub(crate) subscribers: Vec<SubscriberCounts>,
    pub(crate) files: Vec<String>,
}

impl Application {
    /// Starts the process and gives it its spec; it is not armed yet.
    pub(crate) fn spawn(worker: &Worker, spec: &ApplicationSpec) -> Result<Application> {
        let name = format!("{} application {}", worker.name, spec.application);
        Application::told(worker, worker.spawn("application", &name)?, spec)
    }

    /// The same as a user who has nothing.
    pub(crate) fn spawn_as_nobody(worker: &Worker, spec: &ApplicationSpec) -> Result<Application> {
        let name = format!("{} application {} of another user", worker.name, spec.application);
        let process = Process::spawn_as(NOBODY, &worker.path, "application", &name)?;
        Application::told(worker, process, spec)
    }

    fn told(worker: &Worker, mut process: Process, spec: &ApplicationSpec) -> Result<Application> {
        process.say(spec)?;
        Ok(Application {
            process,
            effective: None,
            path: None,
            met: BTreeMap::new(),
            matched: BTreeMap::new(),
            knows_matches: !matches!(worker.description.capabilities.matching, Some(Matching::Never { .. })),
            tells_handshakes: tells_handshakes(worker, spec),
        })
    }

    pub(crate) fn wait_armed(&mut self) -> Result<()> {
        self.until("armed", |event| {
            matches!(event, ApplicationEvent::Armed { .. }).then_some(())
        })
    }

    /// Waits until all its endpoints exist, which are to receive as they were asked to.
    pub(crate) fn wait_effective(&mut self, delivery: Delivery) -> Result<()> {
        loop {
            if let Some(effective) = &self.effective {
                let stated = effective.delivery;
                ensure!(
                    stated == delivery,
                    "asked for {delivery}, it states {stated} as effective"
                );
                return Ok(());
            }
            self.take("effective")?;
        }
    }

    /// Waits for the first message of each of these.
    pub(crate) fn wait_met(&mut self, pairings: &BTreeSet<Pairing>) -> Result<()> {
        loop {
            let missing: Vec<_> = pairings.iter().filter(|one| !self.met.contains_key(one)).collect();
            if missing.is_empty() {
                return Ok(());
            }
            let waiting_for = format!("first_message of {missing:?}");
            self.take(&waiting_for)?;
        }
    }

    /// Waits until one of its publishers knows of a subscriber; since when.
    pub(crate) fn wait_matched(&mut self) -> Result<u64> {
        loop {
            if let Some(since_ns) = self.matched.values().min() {
                return Ok(*since_ns);
            }
            self.take("matched")?;
        }
    }

    pub(crate) fn wait_published(&mut self) -> Result<Vec<PublisherCounts>> {
        self.until("published", |event| match event {
            ApplicationEvent::Published { publishers } => Some(publishers),
            _ => None,
        })
    }

    pub(crate) fn wait_done(&mut self) -> Result<Done> {
        let (done, path) = self.until("done", |event| match event {
            ApplicationEvent::Done {
                subscribers,
                files,
                path,
                ..
            } => Some((Done { subscribers, files }, path)),
            _ => None,
        })?;
        self.path = Some(path);
        Ok(done)
    }

    /// Stops it: `closed`, no further line, exit status 0.
    pub(crate) fn stop(&mut self) -> Result<()> {
        self.process.say(&ApplicationCommand::Stop)?;
        self.until("closed", |event| {
            matches!(event, ApplicationEvent::Closed { .. }).then_some(())
        })?;
        ensure!(
            self.process.is_silent("the end of standard output after closed")?,
            self.process.failure("said something after closed")
        );
        let status = self.process.wait("its end after closed")?;
        ensure!(
            status.success(),
            self.process.failure(&format!("ended with {status} after closed"))
        );
        Ok(())
    }

    /// Takes events until the one that is waited for; what may come meanwhile is noted, all else is out of place.
    fn until<T>(&mut self, waiting_for: &str, wanted: impl Fn(ApplicationEvent) -> Option<T>) -> Result<T> {
        loop {
            if let Some(event) = self.take(waiting_for)? {
                let said = format!("{event:?}");
                return wanted(event).ok_or_else(|| {
                    self.process
                        .failure(&format!("said {said:.300} instead of {waiting_for}"))
                });
            }
        }
    }

    /// Takes one event; notes what it may tell at any time, returns what belongs to a step.
    fn take(&mut self, waiting_for: &str) -> Result<Option<ApplicationEvent>> {
        match self.process.next(waiting_for)? {
            ApplicationEvent::FirstMessage(first) => {
                let received_ns = first.received_ns;
                self.met.insert(Pairing::of(first, false), received_ns);
                Ok(None)
            }
            ApplicationEvent::FirstFullMessage(first) => {
                let received_ns = first.received_ns;
                self.met.insert(Pairing::of(first, true), received_ns);
                Ok(None)
            }
            ApplicationEvent::Matched(first) => {
                ensure!(self.knows_matches, "told matched, which it describes as never known");
                ensure!(
                    first.handshake_ns.is_some() == self.tells_handshakes,
                    "it describes that handshakes are told: {}, and tells of {:?}",
                    self.tells_handshakes,
                    first.handshake_ns
                );
                let publisher = (first.stream, first.answers, first.publisher);
                ensure!(
                    !self.matched.contains_key(&publisher),
                    "told matched of {publisher:?} twice"
                );
                self.matched.insert(publisher, first.since_ns);
                Ok(None)
            }
            ApplicationEvent::Initialised { .. } | ApplicationEvent::Unheard { .. } => Ok(None),
            ApplicationEvent::Effective(effective) => {
                self.effective = Some(effective);
                Ok(None)
            }
            ApplicationEvent::Refused(refusal) => Err(Refused(refusal).into()),
            ApplicationEvent::Failed { doing, causes } => Err(self.process.failure(&format!(
                "failed {doing} while the suite waited for {waiting_for}: {}",
                causes.join(": ")
            ))),
            event => Ok(Some(event)),
        }
    }
}
