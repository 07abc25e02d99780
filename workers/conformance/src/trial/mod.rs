//! Leads one trial through its life, step by step; a check takes the steps it needs, in its own order.
//!
//! It sends commands and gathers what applications tell; it judges nothing.

mod traces;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use middlemark_contract::{ApplicationCommand, EndpointAddress, ExpectedMessages, PublisherCounts, Security};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

use self::traces::Traces;
use crate::application::{Application, Pairing};
use crate::case::Case;
use crate::outcome::Outcome;
use crate::place::Place;
use crate::process::Process;
use crate::request::Request;
use crate::services::Services;

/// From a command to the instant it names. Who reads of the start later starts later, and that is all.
const START_AHEAD_NS: u64 = 30_000_000;

/// Who reads of the window after it has opened sends late what was due: long enough for every application to be woken,
/// were there twenty for each CPU.
const WINDOW_AHEAD_NS: u64 = 300_000_000;

/// How long a drain waits for messages that need not arrive, and for those that must.
const DRAIN_NS: u64 = 1_000_000_000;
const RELIABLE_DRAIN_NS: u64 = 20_000_000_000;

/// A trial under way.
pub(crate) struct Trial<'a> {
    case: &'a Case,
    pub(crate) place: &'a Place,
    pub(crate) request: Request,
    pub(crate) applications: BTreeMap<String, Application>,
    /// Applications at its place that the trial does not lead: who is in its way, or has no business there.
    pub(crate) others: Vec<Application>,
    pub(crate) services: Services,
    /// What applications are given to keep strangers out with; empty where all is open.
    pub(crate) security: BTreeMap<String, Security>,
}

impl<'a> Trial<'a> {
    /// Starts the services; no application yet.
    pub(crate) fn prepare(case: &'a Case, place: &'a Place, request: Request) -> Result<Trial<'a>> {
        Ok(Trial::served(case, place, request, Services::start(case, place)?))
    }

    /// A trial with services that are running already.
    pub(crate) fn served(case: &'a Case, place: &'a Place, request: Request, services: Services) -> Trial<'a> {
        Trial {
            case,
            place,
            request,
            services,
            applications: BTreeMap::new(),
            others: Vec::new(),
            security: BTreeMap::new(),
        }
    }

    /// The whole life, with nothing out of the ordinary.
    pub(crate) fn run(case: &Case, place: &Place, request: Request) -> Result<Outcome> {
        Trial::prepare(case, place, request)?.live()
    }

    /// The whole life of a trial whose services run.
    pub(crate) fn live(mut self) -> Result<Outcome> {
        self.arm_all()?;
        self.start_all()?;
        self.meet()?;
        let outcome = self.measure()?;
        self.stop()?;
        Ok(outcome)
    }

    pub(crate) fn arm_all(&mut self) -> Result<()> {
        self.arm(&self.request.applications())
    }

    /// Starts these applications' processes and waits until each is armed.
    pub(crate) fn arm(&mut self, names: &[String]) -> Result<()> {
        let all = self.request.applications();
        for (number, name) in (0..).zip(&all).filter(|(_, name)| names.contains(name)) {
            let services = self.services.reached_by(number);
            let mut spec = self.request.spec(self.case, self.place, services, name);
            spec.security = self.security.get(name).cloned();
            let application = Application::spawn(&self.case.worker, &spec)?;
            self.applications.insert(name.clone(), application);
        }
        self.chosen(names).try_for_each(Application::wait_armed)
    }

    pub(crate) fn start_all(&mut self) -> Result<()> {
        self.start(&self.request.applications())
    }

    /// Has these begin at one instant and waits until all their endpoints exist.
    pub(crate) fn start(&mut self, names: &[String]) -> Result<()> {
        let at_ns = now_ns() + START_AHEAD_NS;
        self.chosen(names)
            .try_for_each(|application| application.process.say(&ApplicationCommand::Start { at_ns }))?;
        let delivery = self.case.worker.delivery(&self.case.variant);
        self.chosen(names)
            .try_for_each(|application| application.wait_effective(delivery))?;
        self.traces().enter(self.place)
    }

    /// Waits until all have heard each other, then until they have messages of the full size of each other.
    pub(crate) fn meet(&mut self) -> Result<()> {
        self.hear(false)?;
        for application in self.applications.values_mut() {
            application.process.say(&ApplicationCommand::Approach)?;
        }
        self.hear(true)
    }

    /// Waits until every subscriber that is there has a message of every publisher that is there, and where it is
    /// answered every publisher an answer of every subscriber; of any size or of the full one.
    pub(crate) fn hear(&mut self, is_full: bool) -> Result<()> {
        let awaited: Vec<_> = self
            .applications
            .keys()
            .map(|name| (name.clone(), self.pairings(name, is_full)))
            .collect();
        for (name, pairings) in awaited {
            self.application(&name)?.wait_met(&pairings)?;
        }
        Ok(())
    }

    /// What an application has to say it has met, of the applications that are there.
    fn pairings(&self, name: &str, is_full: bool) -> BTreeSet<Pairing> {
        let mut pairings = BTreeSet::new();
        for stream in &self.request.streams {
            let there = |address: &EndpointAddress| self.applications.contains_key(&address.application);
            for (publisher, asker) in (0..).zip(&stream.publishers).filter(|(_, address)| there(address)) {
                for (subscriber, responder) in (0..).zip(&stream.subscribers).filter(|(_, address)| there(address)) {
                    if !stream.is_joined(publisher, subscriber) {
                        continue;
                    }
                    let pairing = |answers| Pairing {
                        stream: stream.name.clone(),
                        answers,
                        publisher,
                        subscriber,
                        is_full,
                    };
                    if responder.application == name {
                        pairings.insert(pairing(false));
                    }
                    if asker.application == name && stream.pattern.answer_bytes().is_some() {
                        pairings.insert(pairing(true));
                    }
                }
            }
        }
        pairings
    }

    /// The window and the drain.
    pub(crate) fn measure(&mut self) -> Result<Outcome> {
        self.open_window()?;
        let publishers = self.published()?;
        self.drain(publishers)
    }

    /// Announces the window to all; returns the instant at which it closes.
    pub(crate) fn open_window(&mut self) -> Result<u64> {
        let end_ns = now_ns() + WINDOW_AHEAD_NS + self.request.window_ns;
        let names: Vec<_> = self.applications.keys().cloned().collect();
        for name in names {
            self.measure_until(&name, end_ns)?;
        }
        Ok(end_ns)
    }

    /// Announces the window that closes at an instant to one application.
    pub(crate) fn measure_until(&mut self, name: &str, end_ns: u64) -> Result<()> {
        let begin_ns = end_ns - self.request.window_ns;
        let command = ApplicationCommand::Measure { begin_ns, end_ns };
        self.application(name)?.process.say(&command)
    }

    pub(crate) fn published(&mut self) -> Result<Vec<PublisherCounts>> {
        let mut publishers = Vec::new();
        for application in self.applications.values_mut() {
            publishers.extend(application.wait_published()?);
        }
        Ok(publishers)
    }

    /// Has everyone wait for what is still under way, as long as the request's reliability deserves.
    pub(crate) fn drain(&mut self, publishers: Vec<PublisherCounts>) -> Result<Outcome> {
        let patience_ns = if self.request.is_reliable() {
            RELIABLE_DRAIN_NS
        } else {
            DRAIN_NS
        };
        self.drain_for(patience_ns, publishers)
    }

    /// Drains a trial of which not everything can arrive any more.
    pub(crate) fn drain_briefly(&mut self, publishers: Vec<PublisherCounts>) -> Result<Outcome> {
        self.drain_for(DRAIN_NS, publishers)
    }

    pub(crate) fn drain_for(&mut self, patience_ns: u64, publishers: Vec<PublisherCounts>) -> Result<Outcome> {
        let command = ApplicationCommand::Drain {
            expected: publishers.iter().map(expected).collect(),
            until_ns: now_ns() + patience_ns,
        };
        for application in self.applications.values_mut() {
            application.process.say(&command)?;
        }
        let (mut subscribers, mut files) = (Vec::new(), Vec::new());
        for application in self.applications.values_mut() {
            let done = application.wait_done()?;
            subscribers.extend(done.subscribers);
            files.extend(done.files.iter().map(|file| self.place.samples().join(file)));
        }
        Outcome::read(self.request.clone(), publishers, subscribers, files)
    }

    /// What all processes at the trial's place hold now.
    pub(crate) fn traces(&mut self) -> Traces {
        let applications = self.applications.values_mut().chain(&mut self.others);
        let processes = applications
            .map(|application| &mut application.process)
            .chain(&mut self.services.processes);
        Traces::of(processes.filter_map(Process::id).collect())
    }

    /// Stops every application, then the services.
    pub(crate) fn stop(mut self) -> Result<()> {
        for application in self.applications.values_mut() {
            application.stop()?;
        }
        self.services.stop()
    }

    /// One application that was started.
    pub(crate) fn application(&mut self, name: &str) -> Result<&mut Application> {
        self.applications
            .get_mut(name)
            .with_context(|| format!("the trial has no application {name}"))
    }

    fn chosen(&mut self, names: &[String]) -> impl Iterator<Item = &mut Application> {
        self.applications
            .iter_mut()
            .filter(|(name, _)| names.contains(name))
            .map(|(_, application)| application)
    }
}

/// Whatever a check has not stopped is killed, and what the killed had in shared memory removed for them.
impl Drop for Trial<'_> {
    fn drop(&mut self) {
        let traces = self.traces();
        self.applications.clear();
        self.others.clear();
        self.services.processes.clear();
        traces.remove(self.place);
    }
}

fn expected(counts: &PublisherCounts) -> ExpectedMessages {
    ExpectedMessages {
        stream: counts.stream.clone(),
        publisher: counts.publisher,
        intended: counts.intended,
        sent: counts.sent,
    }
}

/// The contract's one clock.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Waits for an instant of a window; never in place of an event.
pub(crate) fn sleep_until(instant_ns: u64) {
    let instant = Timespec {
        tv_sec: (instant_ns / 1_000_000_000) as i64,
        tv_nsec: (instant_ns % 1_000_000_000) as i64,
    };
    while clock_nanosleep_absolute(ClockId::Monotonic, &instant).is_err() {}
}
