//! The life of an application: armed, start, measure, drain, stop, each step a function of its own.
//!
//! It owns the order of things and nothing else: `acceptance` judges the spec, `reserve` gets the memory, `running`
//! starts and closes the middleware, `usage` reads the kernel, `files` writes. The front decides every instant.

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};

use middlemark_contract::{
    ApplicationCommand, ApplicationEvent, ApplicationSpec, ExpectedMessages, InterfaceTraffic, Refusal, Resources,
};

use crate::clock;
use crate::life::acceptance;
use crate::life::counts;
use crate::life::reserve::Reserved;
use crate::life::running::Running;
use crate::life::tally::{End, Tally, pass, unexpected};
use crate::message::channel::Channel;
use crate::middleware::{Context, Middleware};
use crate::node::journal::Journal;
use crate::options::Options;
use crate::process::closing;
use crate::process::inbox::{self, Note, Notes};
use crate::process::path::Snapshot;
use crate::process::placement;
use crate::process::usage::{self, Reading, Subject};
use crate::process::wire::{self, Line};
use crate::send::gate::Window;

/// How long before the window its opening is read, so that reading does not fall into it.
const READING_AHEAD_NS: i64 = 2_000_000;

/// How long before the window begins it is looked at which paths messages take: as late as may be, as some middlewares
/// take another one after their first messages. It ends so much earlier that nothing of it falls into the window.
const LOOKING_AHEAD_NS: i64 = 60_000_000;
const LOOKED_BEFORE_NS: i64 = 7_000_000;

/// Runs one application from its spec on standard input to its end.
pub(crate) fn run(middleware: &dyn Middleware) -> ExitCode {
    let mut spec = match wire::read_line::<ApplicationSpec>() {
        Line::Value(spec) => spec,
        Line::Nonsense(reason) => {
            return refuse(Refusal {
                capability: "spec".into(),
                reason,
            });
        }
        Line::End => return ExitCode::FAILURE,
    };
    clock::follow_front(spec.clock_offset_ns);
    let (notes, inbox) = channel();
    let (reserved, options) = match arm(middleware, &mut spec, &notes) {
        Ok(armed) => armed,
        Err(refusal) => return refuse(refusal),
    };
    wire::say(&ApplicationEvent::Armed {
        clock_cost_ns: clock::cost_ns(),
        resident_bytes: usage::resident_bytes().unwrap_or(0),
    });
    wire::read_lines(notes.clone(), Note::Line);
    match (Life {
        middleware,
        spec: &spec,
        options: &options,
        notes,
        inbox,
    })
    .live(reserved)
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(end) => end.report(),
    }
}

fn refuse(refusal: Refusal) -> ExitCode {
    wire::say(&ApplicationEvent::Refused(refusal));
    ExitCode::from(2)
}

/// Reserves all of an accepted spec, in which what it leaves to the worker is then set.
fn arm(middleware: &dyn Middleware, spec: &mut ApplicationSpec, notes: &Notes) -> Result<(Reserved, Options), Refusal> {
    let description = middleware.describe();
    acceptance::accept(spec, &description.capabilities)?;
    for payload in spec.streams.iter_mut().filter_map(|stream| stream.payload.as_mut()) {
        let default = description.capabilities.serialisations.first().copied();
        payload.serialisation = payload.serialisation.or(default);
    }
    let options = Options::resolve(&description, &spec.profile, &spec.options)?;
    middleware.accept(spec, &options)?;
    let channels = Channel::of(spec, description.ports)?;
    placement::apply(&spec.placement)?;
    Ok((Reserved::new(spec, channels, notes)?, options))
}

struct Life<'a> {
    middleware: &'a dyn Middleware,
    spec: &'a ApplicationSpec,
    options: &'a Options,
    notes: Notes,
    inbox: Receiver<Note>,
}

impl Life<'_> {
    fn live(self, reserved: Reserved) -> Result<(), End> {
        let ApplicationCommand::Start { at_ns } = self.command("start")? else {
            return Err(unexpected("start"));
        };
        clock::sleep_until(at_ns as i64);
        let context = Context {
            spec: self.spec,
            options: self.options,
            channels: &reserved.channels,
        };
        let failed_to_start = || End::failed("starting the middleware");
        let mut running = Running::initialise(self.middleware, &context).map_err(failed_to_start())?;
        let started = running
            .start(self.spec, &self.notes, reserved)
            .map_err(failed_to_start());
        let result = match started.and_then(|()| self.measure(&mut running, at_ns as i64)) {
            Err(End::GivenUp) => Ok(()),
            result => result,
        };
        // From here on the end is bounded, whether all went well, something failed or the front is gone.
        let last_words = result.as_ref().err().and_then(End::event);
        closing::end_at_last("closing the middleware", move || last_words.iter().for_each(wire::say));
        let closed = running.close().map_err(End::failed("closing the middleware"));
        result?;
        wire::say(&ApplicationEvent::Closed { took_ns: closed? });
        Ok(())
    }

    /// Everything from the first messages to `stop`; a front that stops early is obeyed.
    fn measure(&self, running: &mut Running, started_ns: i64) -> Result<(), End> {
        let mut has_approached = false;
        let (begin_ns, end_ns) = loop {
            match self.command("measure")? {
                ApplicationCommand::Approach => {
                    has_approached = true;
                    running.approach();
                }
                ApplicationCommand::Measure { begin_ns, end_ns } => break (begin_ns as i64, end_ns as i64),
                ApplicationCommand::Stop if has_approached => return Ok(()),
                ApplicationCommand::Stop => {
                    running.tell_counterparts();
                    return Ok(());
                }
                _ => return Err(unexpected("approach, measure or stop")),
            }
        };
        running.open(Window::learned_of(started_ns, clock::now_ns(), begin_ns, end_ns));
        let mut tally = Tally::of(running.recorders.len());
        let snapshot = self.look_ahead(running, begin_ns, &mut tally)?;
        let opening = self.open_window(begin_ns, &mut tally)?;
        let (resources, interfaces) = self.close_window(&opening, end_ns, tally)?;
        let (expected, until_ns) = match self.command("drain")? {
            ApplicationCommand::Drain { expected, until_ns } => (expected, until_ns as i64),
            ApplicationCommand::Stop => return Ok(()),
            _ => return Err(unexpected("drain or stop")),
        };
        self.drain(running, &expected, until_ns)?;
        let journals = running.journals().map_err(End::failed("ending the nodes"))?;
        let nodes = journals.iter().map(Journal::counts).collect();
        let (subscribers, files) = counts::collect(self.spec, &running.receivers, &running.recorders, &journals)
            .map_err(|error| End::Failed {
                doing: "writing the samples",
                causes: wire::causes(&error),
            })?;
        wire::say(&ApplicationEvent::Done {
            subscribers,
            nodes,
            resources,
            path: snapshot.proof(interfaces),
            files,
        });
        match self.command("stop")? {
            ApplicationCommand::Stop => Ok(()),
            _ => Err(unexpected("stop")),
        }
    }

    /// What the application has when all have heard each other, and what is in force then; nothing of one that learns of its
    /// window when it is about to begin.
    fn look_ahead(&self, running: &mut Running, begin_ns: i64, tally: &mut Tally) -> Result<Snapshot, End> {
        self.take_until(begin_ns - LOOKING_AHEAD_NS, tally)?;
        let until_ns = begin_ns - LOOKED_BEFORE_NS;
        if clock::now_ns() >= until_ns {
            return Ok(Snapshot::missed());
        }
        running.restate();
        Ok(Snapshot::taken(self.spec.rendezvous.token, until_ns))
    }

    fn open_window(&self, begin_ns: i64, tally: &mut Tally) -> Result<Reading, End> {
        self.take_until(begin_ns - READING_AHEAD_NS, tally)?;
        Subject { child: None }
            .open()
            .map_err(|error| End::failed("reading the kernel's counters")(error.into()))
    }

    fn close_window(
        &self,
        opening: &Reading,
        end_ns: i64,
        mut tally: Tally,
    ) -> Result<(Resources, Option<Vec<InterfaceTraffic>>), End> {
        self.take_until(end_ns, &mut tally)?;
        let spent = Subject { child: None }
            .close(opening)
            .map_err(|error| End::failed("reading the kernel's counters")(error.into()))?;
        while tally.missing > 0 {
            tally.take(self.next())?;
        }
        wire::say(&ApplicationEvent::Published {
            publishers: tally.publishers,
        });
        Ok(spent)
    }

    fn drain(&self, running: &Running, expected: &[ExpectedMessages], until_ns: i64) -> Result<(), End> {
        let mut missing = counts::expect(self.spec, &running.receivers, expected);
        while missing > 0 {
            match inbox::wait_until(&self.inbox, until_ns) {
                None => return Ok(()),
                Some(Note::Complete) => missing -= 1,
                Some(note) => drop(pass(note)?),
            }
        }
        Ok(())
    }

    /// The next command; what else comes meanwhile is passed on.
    fn command(&self, waiting_for: &'static str) -> Result<ApplicationCommand, End> {
        loop {
            match self.next() {
                Note::Line(Line::Value(command)) => return Ok(command),
                Note::Line(Line::Nonsense(reason)) => {
                    return Err(End::Failed {
                        doing: "reading a command",
                        causes: vec![format!("waiting for {waiting_for}"), reason],
                    });
                }
                note => drop(pass(note)?),
            }
        }
    }

    fn next(&self) -> Note {
        self.inbox
            .recv()
            .expect("the application keeps a sender of its own inbox")
    }

    /// Takes what comes until an instant. A publisher may be done before this thread has even seen the window open.
    fn take_until(&self, instant_ns: i64, tally: &mut Tally) -> Result<(), End> {
        while let Some(note) = inbox::wait_until(&self.inbox, instant_ns) {
            tally.take(note)?;
        }
        Ok(())
    }
}
