//! A running application: the middleware's session, what it receives into, and the threads of its publishers and nodes.
//!
//! It starts them in their order and closes them in the reverse one; what happens in between is `application`'s.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use middlemark_contract::{ApplicationEvent, ApplicationSpec, NodeOutput};

use crate::clock;
use crate::life::counts;
use crate::life::reserve::{NodeParts, Publication, Reserved, Subscription};
use crate::message::payload::Pool;
use crate::middleware::{Context, Middleware, MiddlewareError, Session};
use crate::node::input_queue::Bell;
use crate::node::journal::Journal;
use crate::node::output_sender::OutputSender;
use crate::node::thread::Node;
use crate::options::Options;
use crate::process::inbox::{Note, Notes};
use crate::process::udp_buffers;
use crate::process::wire;
use crate::receive::receiver::{Part, Receiver, ReceiverState};
use crate::send::answer::Answerer;
use crate::send::gate::{Window, WindowGate};
use crate::send::sender::Sender;
use crate::send::stamping_publisher::StampingPublisher;

/// What lives between `start` and `stop`.
pub(crate) struct Running {
    session: Box<dyn Session>,
    pub(crate) receivers: Vec<Arc<ReceiverState>>,
    senders: Vec<JoinHandle<()>>,
    executing: Vec<JoinHandle<Journal>>,
    bells: Vec<Arc<Bell>>,
    pub(crate) recorders: Vec<counts::PublisherRecords>,
    gate: Arc<WindowGate>,
}

impl Running {
    /// Initialises the middleware and all endpoints; publishers publish from here on.
    pub(crate) fn start(
        middleware: &dyn Middleware,
        spec: &ApplicationSpec,
        options: &Options,
        notes: &Notes,
        reserved: Reserved,
    ) -> Result<Running, MiddlewareError> {
        let context = Context {
            spec,
            options,
            channels: &reserved.channels,
        };
        let mut session = middleware.open(&context)?;
        let mut receivers = Vec::new();
        for subscription in reserved.subscriptions {
            receivers.push(subscribe(spec, &mut *session, subscription, &reserved.pool)?);
        }
        let gate = Arc::new(WindowGate::default());
        let (mut senders, mut outputs, mut recorders) = (Vec::new(), Vec::new(), Vec::new());
        for publication in reserved.publications {
            recorders.push(counts::PublisherRecords::of(&publication));
            let publisher = session.publisher(&publication.channel)?;
            let size_bytes = publication.channel.size_bytes;
            let publisher = StampingPublisher::new(publisher, size_bytes, Arc::clone(&reserved.pool));
            let sender = sender(spec, publication, publisher, &gate);
            match node_of(&reserved.nodes, &sender) {
                Some((node, output)) => outputs.push((node, output, OutputSender::new(sender))),
                None => senders.push(publish(sender, notes.clone())),
            }
        }
        let bells = reserved.nodes.iter().map(|node| Arc::clone(&node.bell)).collect();
        let executing = execute(spec, reserved.nodes, outputs, &gate, notes);
        let mut effective = session.effective();
        effective.settings.extend(udp_buffers::granted());
        wire::say(&ApplicationEvent::Effective(effective));
        Ok(Running {
            session,
            receivers,
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
        // A responder's publisher lives in its receiver's state: with these gone, the session's own receivers are all that holds it.
        drop(self.receivers);
        self.session.close()?;
        Ok((clock::now_ns() - begin_ns) as u64)
    }
}

fn subscribe(
    spec: &ApplicationSpec,
    session: &mut dyn Session,
    subscription: Subscription,
    pool: &Arc<Pool>,
) -> Result<Arc<ReceiverState>, MiddlewareError> {
    let Subscription {
        channel,
        answers,
        mut receiver,
    } = subscription;
    if let Some(answers) = answers {
        let publisher = session.publisher(&answers)?;
        let answerer = Answerer::new(publisher, answers, spec.rendezvous.token, Arc::clone(pool));
        receiver.part = Part::Responder(answerer);
    }
    let receiver = Arc::new(receiver);
    session.subscriber(&channel, Receiver::new(Arc::clone(&receiver)))?;
    Ok(receiver)
}

fn sender(
    spec: &ApplicationSpec,
    publication: Publication,
    publisher: StampingPublisher,
    gate: &Arc<WindowGate>,
) -> Sender {
    Sender {
        stream: publication.stream.name,
        pattern: publication.stream.pattern,
        channel: publication.channel,
        publisher,
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

fn publish(sender: Sender, notes: Notes) -> JoinHandle<()> {
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
    mut outputs: Vec<(usize, usize, OutputSender)>,
    gate: &Arc<WindowGate>,
    notes: &Notes,
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
