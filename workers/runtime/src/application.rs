//! The life of an application: armed, start, measure, drain, stop, each step a function of its own.
//!
//! It owns the order of things and nothing else: `acceptance` judges the spec, `reserve` gets the memory, `sender` and
//! `inlet` move messages, `usage` reads the kernel, `files` writes. The front decides every instant.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender as Outlet, channel};
use std::thread::{self, JoinHandle};

use middlemark_contract::{
    ApplicationCommand, ApplicationEvent, ApplicationSpec, ExpectedMessages, PublisherCounts, Refusal,
};

use crate::acceptance;
use crate::answer::Answerer;
use crate::channel::Channel;
use crate::clock;
use crate::counts;
use crate::inlet::{Inlet, Intake, Part};
use crate::life::{self, Note};
use crate::message::Outbox;
use crate::middleware::{Context, Middleware, MiddlewareError, Session};
use crate::options::Options;
use crate::placement;
use crate::reserve::{Publication, Reserved, Subscription};
use crate::sender::{Sender, Window, WindowGate};
use crate::sockets;
use crate::usage::{self, Reading, Subject};
use crate::wire::{self, Line};

/// How long before the window its opening is read, so that reading does not fall into it.
const READING_AHEAD_NS: i64 = 2_000_000;

/// Runs one application from its spec on standard input to its end.
pub(crate) fn run(middleware: &dyn Middleware) -> ExitCode {
    let spec = match wire::read_line::<ApplicationSpec>() {
        Line::Value(spec) => spec,
        Line::Nonsense(reason) => {
            return refuse(Refusal {
                capability: "spec".into(),
                reason,
            });
        }
        Line::End => return ExitCode::FAILURE,
    };
    let (notes, inbox) = channel();
    let (reserved, options) = match arm(middleware, &spec, &notes) {
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

fn arm(
    middleware: &dyn Middleware,
    spec: &ApplicationSpec,
    notes: &Outlet<Note>,
) -> Result<(Reserved, Options), Refusal> {
    let description = middleware.describe();
    acceptance::accept(spec, &description.capabilities)?;
    let options = Options::resolve(&description, &spec.profile, &spec.options)?;
    middleware.accept(spec, &options)?;
    let channels = Channel::of(spec)?;
    placement::apply(&spec.placement)?;
    Ok((Reserved::new(spec, channels, notes), options))
}

/// Why a life ended before it was done.
enum End {
    /// The front is gone.
    FrontGone,
    /// Something failed.
    Failed { doing: &'static str, causes: Vec<String> },
}

impl End {
    fn failed(doing: &'static str) -> impl FnOnce(MiddlewareError) -> End {
        move |error| End::Failed {
            doing,
            causes: wire::causes(&*error),
        }
    }

    fn report(self) -> ExitCode {
        if let End::Failed { doing, causes } = self {
            wire::say(&ApplicationEvent::Failed {
                doing: doing.into(),
                causes,
            });
        }
        ExitCode::FAILURE
    }
}

struct Life<'a> {
    middleware: &'a dyn Middleware,
    spec: &'a ApplicationSpec,
    options: &'a Options,
    notes: Outlet<Note>,
    inbox: Receiver<Note>,
}

/// A running application: its session, what it receives into, and its publishers' threads.
struct Running {
    session: Box<dyn Session>,
    intakes: Vec<Arc<Intake>>,
    senders: Vec<JoinHandle<()>>,
    recorders: Vec<counts::Outgoing>,
    gate: Arc<WindowGate>,
}

impl Life<'_> {
    fn live(self, reserved: Reserved) -> Result<(), End> {
        let ApplicationCommand::Start { at_ns } = self.command("start")? else {
            return Err(unexpected("start"));
        };
        let running = self
            .start(reserved, at_ns as i64)
            .map_err(End::failed("starting the middleware"))?;
        let result = self.measure(&running);
        // From here on the end is bounded, whether all went well or the front is gone.
        life::end_at_last("closing the middleware");
        match close(running) {
            Ok(()) => result,
            Err(end) => result.and(Err(end)),
        }
    }

    fn start(&self, reserved: Reserved, at_ns: i64) -> Result<Running, MiddlewareError> {
        clock::sleep_until(at_ns);
        let context = Context {
            spec: self.spec,
            options: self.options,
            channels: &reserved.channels,
        };
        let mut session = self.middleware.open(&context)?;
        let mut intakes = Vec::new();
        for subscription in reserved.subscriptions {
            intakes.push(self.subscribe(&mut *session, subscription, &reserved.pool)?);
        }
        let gate = Arc::new(WindowGate::default());
        let (mut senders, mut recorders) = (Vec::new(), Vec::new());
        for publication in reserved.publications {
            recorders.push(counts::Outgoing::of(&publication));
            let outbox = Outbox::new(
                session.publisher(&publication.channel)?,
                publication.channel.size_bytes,
                Arc::clone(&reserved.pool),
            );
            senders.push(self.publish(publication, outbox, &gate));
        }
        let mut effective = session.effective();
        effective.settings.extend(sockets::udp_buffers());
        wire::say(&ApplicationEvent::Effective(effective));
        Ok(Running {
            session,
            intakes,
            senders,
            recorders,
            gate,
        })
    }

    fn subscribe(
        &self,
        session: &mut dyn Session,
        subscription: Subscription,
        pool: &Arc<crate::payload::Pool>,
    ) -> Result<Arc<Intake>, MiddlewareError> {
        let Subscription {
            channel,
            answers,
            mut intake,
        } = subscription;
        if let Some(answers) = answers {
            let publisher = session.publisher(&answers)?;
            let answerer = Answerer::new(publisher, answers, self.spec.rendezvous.token, Arc::clone(pool));
            intake.part = Part::Responder(answerer);
        }
        let intake = Arc::new(intake);
        session.subscriber(&channel, Inlet::new(Arc::clone(&intake)))?;
        Ok(intake)
    }

    fn publish(&self, publication: Publication, outbox: Outbox, gate: &Arc<WindowGate>) -> JoinHandle<()> {
        let sender = Sender {
            stream: publication.stream.name,
            pattern: publication.stream.pattern,
            channel: publication.channel,
            outbox,
            token: self.spec.rendezvous.token,
            spin_ns: self.spec.placement.spin_ns as i64,
            messages: self.spec.recording.messages,
            recorder: publication.recorder,
            turn: publication.turn,
            refusal: None,
            sent: 0,
        };
        let (gate, notes) = (Arc::clone(gate), self.notes.clone());
        thread::spawn(move || {
            let counts = sender.run(clock::now_ns(), &gate);
            let _ = notes.send(Note::Finished(counts));
        })
    }

    /// Everything from the first messages to `stop`; a front that stops early is obeyed.
    fn measure(&self, running: &Running) -> Result<(), End> {
        let (begin_ns, end_ns) = match self.command("measure")? {
            ApplicationCommand::Measure { begin_ns, end_ns } => (begin_ns as i64, end_ns as i64),
            ApplicationCommand::Stop => return Ok(()),
            _ => return Err(unexpected("measure or stop")),
        };
        running.gate.open(Window { begin_ns, end_ns });
        let mut tally = Tally {
            publishers: Vec::new(),
            missing: running.senders.len(),
        };
        let opening = self.open_window(begin_ns, &mut tally)?;
        let (resources, path) = self.close_window(&opening, end_ns, tally)?;
        let (expected, until_ns) = match self.command("drain")? {
            ApplicationCommand::Drain { expected, until_ns } => (expected, until_ns as i64),
            ApplicationCommand::Stop => return Ok(()),
            _ => return Err(unexpected("drain or stop")),
        };
        self.drain(running, &expected, until_ns)?;
        let (subscribers, files) =
            counts::collect(self.spec, &running.intakes, &running.recorders).map_err(|error| End::Failed {
                doing: "writing the samples",
                causes: wire::causes(&error),
            })?;
        wire::say(&ApplicationEvent::Done {
            subscribers,
            resources,
            path,
            files,
        });
        match self.command("stop")? {
            ApplicationCommand::Stop => Ok(()),
            _ => Err(unexpected("stop")),
        }
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
    ) -> Result<(middlemark_contract::Resources, middlemark_contract::PathProof), End> {
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
        let mut missing = counts::expect(self.spec, &running.intakes, expected);
        while missing > 0 {
            match life::wait_until(&self.inbox, until_ns) {
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
        while let Some(note) = life::wait_until(&self.inbox, instant_ns) {
            tally.take(note)?;
        }
        Ok(())
    }
}

/// What the publishers of the window have told so far.
struct Tally {
    publishers: Vec<PublisherCounts>,
    missing: usize,
}

impl Tally {
    fn take(&mut self, note: Note) -> Result<(), End> {
        self.missing -= usize::from(matches!(note, Note::Finished(_)));
        self.publishers.extend(pass(note)?);
        Ok(())
    }
}

fn close(running: Running) -> Result<(), End> {
    let begin_ns = clock::now_ns();
    running.gate.abandon();
    for sender in running.senders {
        sender.join().map_err(|_| End::Failed {
            doing: "publishing",
            causes: vec!["a publisher's thread panicked".into()],
        })?;
    }
    // A responder's publisher lives in its intake: with these gone, the session's own inlets are all that holds it.
    drop(running.intakes);
    running.session.close().map_err(End::failed("closing the middleware"))?;
    wire::say(&ApplicationEvent::Closed {
        took_ns: (clock::now_ns() - begin_ns) as u64,
    });
    Ok(())
}

/// Handles whatever comes while no command is waited for.
fn pass(note: Note) -> Result<Option<PublisherCounts>, End> {
    match note {
        Note::First {
            stream,
            publisher,
            subscriber,
            received_ns,
        } => {
            let received_ns = received_ns as u64;
            wire::say(&ApplicationEvent::FirstMessage {
                stream,
                publisher,
                subscriber,
                received_ns,
            });
            Ok(None)
        }
        Note::Finished(counts) => Ok(counts),
        Note::Complete => Ok(None),
        Note::Line(Line::Value(command)) => Err(End::Failed {
            doing: "reading a command",
            causes: vec![format!("{command:?} came too early")],
        }),
        Note::Line(Line::Nonsense(reason)) => Err(End::Failed {
            doing: "reading a command",
            causes: vec![reason],
        }),
        Note::Line(Line::End) => Err(End::FrontGone),
    }
}

fn unexpected(waiting_for: &str) -> End {
    End::Failed {
        doing: "reading a command",
        causes: vec![format!("another command came instead of {waiting_for}")],
    }
}
