//! A running application: the middleware's session, what it receives into, and its publishers' threads.
//!
//! It starts them in their order and closes them in the reverse one; what happens in between is `application`'s.

use std::sync::Arc;
use std::sync::mpsc::Sender as Outlet;
use std::thread::{self, JoinHandle};

use middlemark_contract::{ApplicationEvent, ApplicationSpec};

use crate::answer::Answerer;
use crate::clock;
use crate::counts;
use crate::inlet::{Inlet, Intake, Part};
use crate::life::Note;
use crate::message::Outbox;
use crate::middleware::{Context, Middleware, MiddlewareError, Session};
use crate::options::Options;
use crate::payload::Pool;
use crate::reserve::{Publication, Reserved, Subscription};
use crate::sender::{Sender, WindowGate};
use crate::sockets;
use crate::wire;

/// What lives between `start` and `stop`.
pub(crate) struct Running {
    session: Box<dyn Session>,
    pub(crate) intakes: Vec<Arc<Intake>>,
    pub(crate) senders: Vec<JoinHandle<()>>,
    pub(crate) recorders: Vec<counts::Outgoing>,
    pub(crate) gate: Arc<WindowGate>,
}

impl Running {
    /// Initialises the middleware and all endpoints; publishers publish from here on.
    pub(crate) fn start(
        middleware: &dyn Middleware,
        spec: &ApplicationSpec,
        options: &Options,
        notes: &Outlet<Note>,
        reserved: Reserved,
    ) -> Result<Running, MiddlewareError> {
        let context = Context {
            spec,
            options,
            channels: &reserved.channels,
        };
        let mut session = middleware.open(&context)?;
        let mut intakes = Vec::new();
        for subscription in reserved.subscriptions {
            intakes.push(subscribe(spec, &mut *session, subscription, &reserved.pool)?);
        }
        let gate = Arc::new(WindowGate::default());
        let (mut senders, mut recorders) = (Vec::new(), Vec::new());
        for publication in reserved.publications {
            recorders.push(counts::Outgoing::of(&publication));
            let publisher = session.publisher(&publication.channel)?;
            let outbox = Outbox::new(publisher, publication.channel.size_bytes, Arc::clone(&reserved.pool));
            senders.push(publish(spec, publication, outbox, &gate, notes.clone()));
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

    /// Ends the publishers, then the session; returns how long that took.
    pub(crate) fn close(self) -> Result<u64, MiddlewareError> {
        let begin_ns = clock::now_ns();
        self.gate.abandon();
        for sender in self.senders {
            sender.join().map_err(|_| "a publisher's thread panicked")?;
        }
        // A responder's publisher lives in its intake: with these gone, the session's own inlets are all that holds it.
        drop(self.intakes);
        self.session.close()?;
        Ok((clock::now_ns() - begin_ns) as u64)
    }
}

fn subscribe(
    spec: &ApplicationSpec,
    session: &mut dyn Session,
    subscription: Subscription,
    pool: &Arc<Pool>,
) -> Result<Arc<Intake>, MiddlewareError> {
    let Subscription {
        channel,
        answers,
        mut intake,
    } = subscription;
    if let Some(answers) = answers {
        let publisher = session.publisher(&answers)?;
        let answerer = Answerer::new(publisher, answers, spec.rendezvous.token, Arc::clone(pool));
        intake.part = Part::Responder(answerer);
    }
    let intake = Arc::new(intake);
    session.subscriber(&channel, Inlet::new(Arc::clone(&intake)))?;
    Ok(intake)
}

fn publish(
    spec: &ApplicationSpec,
    publication: Publication,
    outbox: Outbox,
    gate: &Arc<WindowGate>,
    notes: Outlet<Note>,
) -> JoinHandle<()> {
    let sender = Sender {
        stream: publication.stream.name,
        pattern: publication.stream.pattern,
        channel: publication.channel,
        outbox,
        token: spec.rendezvous.token,
        spin_ns: spec.placement.spin_ns as i64,
        messages: spec.recording.messages,
        recorder: publication.recorder,
        turn: publication.turn,
        refusal: None,
        sent: 0,
        gate: Arc::clone(gate),
    };
    thread::spawn(move || {
        let counts = sender.run(clock::now_ns());
        let _ = notes.send(Note::Finished(counts));
    })
}
