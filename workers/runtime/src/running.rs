//! A running application: the middleware's session, what it receives into, and the threads of its publishers and nodes.
//!
//! It starts them in their order and closes them in the reverse one; what happens in between is `application`'s.

use std::sync::Arc;
use std::sync::mpsc::Sender as Outlet;
use std::thread::{self, JoinHandle};

use middlemark_contract::{ApplicationEvent, ApplicationSpec, NodeOutput};

use crate::answer::Answerer;
use crate::clock;
use crate::counts;
use crate::feed::Bell;
use crate::gate::{Window, WindowGate};
use crate::inlet::{Inlet, Intake, Part};
use crate::journal::Journal;
use crate::life::Note;
use crate::message::Outbox;
use crate::middleware::{Context, Middleware, MiddlewareError, Session};
use crate::node::Node;
use crate::options::Options;
use crate::output::Output;
use crate::payload::Pool;
use crate::reserve::{NodeParts, Publication, Reserved, Subscription};
use crate::sender::Sender;
use crate::sockets;
use crate::wire;

/// What lives between `start` and `stop`.
pub(crate) struct Running {
    session: Box<dyn Session>,
    pub(crate) intakes: Vec<Arc<Intake>>,
    senders: Vec<JoinHandle<()>>,
    executing: Vec<JoinHandle<Journal>>,
    bells: Vec<Arc<Bell>>,
    pub(crate) recorders: Vec<counts::Outgoing>,
    gate: Arc<WindowGate>,
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
        let (mut senders, mut outputs, mut recorders) = (Vec::new(), Vec::new(), Vec::new());
        for publication in reserved.publications {
            recorders.push(counts::Outgoing::of(&publication));
            let publisher = session.publisher(&publication.channel)?;
            let outbox = Outbox::new(publisher, publication.channel.size_bytes, Arc::clone(&reserved.pool));
            let sender = sender(spec, publication, outbox, &gate);
            match node_of(&reserved.nodes, &sender) {
                Some((node, output)) => outputs.push((node, output, Output::new(sender))),
                None => senders.push(publish(sender, notes.clone())),
            }
        }
        let bells = reserved.nodes.iter().map(|node| Arc::clone(&node.bell)).collect();
        let executing = execute(spec, reserved.nodes, outputs, &gate, notes);
        let mut effective = session.effective();
        effective.settings.extend(sockets::udp_buffers());
        wire::say(&ApplicationEvent::Effective(effective));
        Ok(Running {
            session,
            intakes,
            senders,
            executing,
            bells,
            recorders,
            gate,
        })
    }

    /// Tells publishers and nodes of the window.
    pub(crate) fn open(&self, window: Window) {
        self.gate.open(window);
        self.bells.iter().for_each(|bell| bell.ring());
    }

    /// What the nodes did; each ends by itself when the window has closed.
    pub(crate) fn journals(&mut self) -> Result<Vec<Journal>, MiddlewareError> {
        std::mem::take(&mut self.executing).into_iter().map(journal).collect()
    }

    /// Ends the publishers, then the session; returns how long that took.
    pub(crate) fn close(mut self) -> Result<u64, MiddlewareError> {
        let begin_ns = clock::now_ns();
        self.gate.abandon();
        self.bells.iter().for_each(|bell| bell.ring());
        self.journals()?;
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

fn sender(spec: &ApplicationSpec, publication: Publication, outbox: Outbox, gate: &Arc<WindowGate>) -> Sender {
    Sender {
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
    }
}

fn publish(sender: Sender, notes: Outlet<Note>) -> JoinHandle<()> {
    thread::spawn(move || {
        let counts = sender.run(clock::now_ns());
        let _ = notes.send(Note::Finished(counts));
    })
}

/// The node that has this publisher, and which of its outputs it is.
fn node_of(nodes: &[NodeParts], sender: &Sender) -> Option<(usize, usize)> {
    nodes.iter().enumerate().find_map(|(number, node)| {
        let is_own = |output: &NodeOutput| output.stream == sender.stream && output.index == sender.channel.index;
        Some((number, node.spec.outputs.iter().position(is_own)?))
    })
}

/// Gives each node a thread and its outputs, in the order in which it sends.
fn execute(
    spec: &ApplicationSpec,
    reserved: Vec<NodeParts>,
    mut outputs: Vec<(usize, usize, Output)>,
    gate: &Arc<WindowGate>,
    notes: &Outlet<Note>,
) -> Vec<JoinHandle<Journal>> {
    outputs.sort_by_key(|(node, output, _)| (*node, *output));
    let mut outputs = outputs.into_iter().peekable();
    let mut threads = Vec::new();
    for (number, parts) in reserved.into_iter().enumerate() {
        let own = std::iter::from_fn(|| outputs.next_if(|(node, ..)| *node == number));
        let node = Node {
            trigger: parts.spec.trigger,
            outputs: own.map(|(_, _, output)| output).collect(),
            inputs: parts.inputs,
            computation: parts.computation,
            bell: parts.bell,
            gate: Arc::clone(gate),
            spin_ns: spec.placement.spin_ns as i64,
            journal: parts.journal,
            taken: parts.taken,
        };
        let notes = notes.clone();
        threads.push(thread::spawn(move || node.run(clock::now_ns(), &notes)));
    }
    threads
}

fn journal(node: JoinHandle<Journal>) -> Result<Journal, MiddlewareError> {
    node.join().map_err(|_| "a node's thread panicked".into())
}
