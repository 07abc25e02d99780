//! A running application: the middleware's session, what it receives into, and the threads of its publishers and nodes.
//!
//! It starts them in their order and closes them in the reverse one, all or as many as there are (`endpoints` makes one of
//! them, `publishing` has the threads that publish); what happens in between is `application`'s.

mod endpoints;
mod publishing;

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use middlemark_contract::{ApplicationEvent, ApplicationSpec, Effective, NodeOutput};

use crate::clock;
use crate::life::counts;
use crate::life::reserve::{NodeParts, Publication, Reserved};
use crate::life::running::publishing::Publishing;
use crate::message::payload::Pool;
use crate::middleware::{Context, Middleware, MiddlewareError, Session};
use crate::node::input_queue::Bell;
use crate::node::journal::Journal;
use crate::node::output_sender::OutputSender;
use crate::node::thread::Node;
use crate::process::inbox::Notes;
use crate::process::placement;
use crate::process::udp_buffers;
use crate::process::wire;
use crate::receive::receiver::state::ReceiverState;
use crate::send::gate::{Window, WindowGate};
use crate::send::publisher_thread::Division;
use crate::send::sender::{Filling, Sender};
use crate::send::stamping_publisher::StampingPublisher;

/// What lives between `start` and `stop`; dropped, it ends as by [`Self::close`].
pub(crate) struct Running {
    /// None once it has ended.
    session: Option<Box<dyn Session>>,
    pub(crate) receivers: Vec<Arc<ReceiverState>>,
    publishing: Publishing,
    executing: Vec<JoinHandle<Journal>>,
    bells: Vec<Arc<Bell>>,
    pub(crate) recorders: Vec<counts::PublisherRecords>,
    gate: Arc<WindowGate>,
    /// How typed messages are serialised, in words; none where there are none.
    serialisation: Option<String>,
    /// What was said last to be in force.
    stated: Option<Effective>,
}

impl Running {
    /// Initialises the middleware; there are no endpoints yet.
    pub(crate) fn initialise(middleware: &dyn Middleware, context: &Context<'_>) -> Result<Running, MiddlewareError> {
        Ok(Running {
            session: Some(middleware.open(context)?),
            receivers: Vec::new(),
            publishing: Publishing::default(),
            executing: Vec::new(),
            bells: Vec::new(),
            recorders: Vec::new(),
            gate: Arc::new(WindowGate::of(publishers_of_trial(context.spec))),
            serialisation: serialisation(context.spec),
            stated: None,
        })
    }

    /// Makes all endpoints; publishers publish from here on. Where it fails, what was made by then is still to be closed by
    /// [`Self::close`].
    pub(crate) fn start(
        &mut self,
        spec: &ApplicationSpec,
        notes: &Notes,
        reserved: Reserved,
    ) -> Result<(), MiddlewareError> {
        for subscription in reserved.subscriptions {
            let receiver = endpoints::subscriber(spec, self.session(), subscription, &reserved.pool, notes)?;
            self.receivers.push(receiver);
        }
        let outputs = self.publish(spec, notes, reserved.publications, &reserved.nodes, &reserved.pool)?;
        self.bells = reserved.nodes.iter().map(|node| Arc::clone(&node.bell)).collect();
        for node in nodes(spec, reserved.nodes, outputs, &self.gate) {
            self.executing.push(execute(node, notes.clone())?);
        }
        self.session().complete()?;
        wire::say(&ApplicationEvent::Initialised {
            since_ns: clock::now_ns() as u64,
        });
        self.restate();
        Ok(())
    }

    /// Says what is in force, where that is not what was said last: some of it is only settled with a peer.
    pub(crate) fn restate(&mut self) {
        let effective = self.effective();
        if self.stated.as_ref() != Some(&effective) {
            wire::say(&ApplicationEvent::Effective(effective.clone()));
            self.stated = Some(effective);
        }
    }

    fn session(&mut self) -> &mut (dyn Session + 'static) {
        self.session.as_deref_mut().expect("only its end takes the session")
    }

    /// Makes all publishers and has those publish that no node sends with; returns the others, each with the position of its
    /// node and its position among that node's outputs.
    fn publish(
        &mut self,
        spec: &ApplicationSpec,
        notes: &Notes,
        publications: Vec<Publication>,
        parts: &[NodeParts],
        pool: &Arc<Pool>,
    ) -> Result<Vec<(usize, usize, OutputSender)>, MiddlewareError> {
        let mut outputs = Vec::new();
        let mut division = Division::of(publications.len(), &self.gate);
        for mut publication in publications {
            self.recorders.push(counts::PublisherRecords::of(&publication));
            let (client, responses) = (publication.client.take(), publication.responses.take());
            let responses = responses.map(|(channel, state)| (channel, Arc::new(state)));
            self.receivers
                .extend(responses.iter().map(|(_, state)| Arc::clone(state)));
            let publisher = endpoints::publisher(spec, self.session(), &publication, responses.as_ref(), notes)?;
            let (largest_bytes, form) = (publication.channel.size_bytes, publication.form);
            let publisher = StampingPublisher::new(publisher, largest_bytes, form, Arc::clone(pool));
            let sender = sender(spec, publication, publisher, &self.gate);
            match node_of(parts, &sender) {
                Some((node, output)) => outputs.push((node, output, OutputSender::new(sender))),
                None => self.publishing.start(division.add(sender, client), notes)?,
            }
        }
        self.publishing.start(division.rest(), notes)?;
        Ok(outputs)
    }

    /// What is really in force: what the session reads back, and what the kernel says of this process.
    fn effective(&mut self) -> Effective {
        let mut effective = self.session().effective();
        effective.settings.extend(udp_buffers::granted());
        effective.settings.extend(placement::granted(None));
        effective.settings.extend(self.publishing.shared());
        let serialisation = self.serialisation.clone();
        effective
            .settings
            .extend(serialisation.map(|words| ("serialisation".into(), words)));
        effective
    }

    /// Tells publishers and nodes that the greetings are over.
    pub(crate) fn approach(&self) {
        self.gate.approach_from(clock::now_ns());
    }

    /// Tells what the endpoints know of those whom they should have met, where their middleware lets them know.
    pub(crate) fn tell_counterparts(&mut self) {
        let endpoints = self.session().counterparts();
        if !endpoints.is_empty() {
            wire::say(&ApplicationEvent::Unheard { endpoints });
        }
    }

    /// Tells publishers and nodes of the window.
    pub(crate) fn open(&self, window: Window) {
        self.gate.open(window);
        self.bells.iter().for_each(|bell| bell.ring());
    }

    /// What the nodes did; each ends by itself when the window has closed.
    pub(crate) fn journals(&mut self) -> Result<Vec<Journal>, MiddlewareError> {
        // All of them are waited for before any is judged: no publisher may outlive the session.
        let ended: Vec<_> = self.executing.drain(..).map(JoinHandle::join).collect();
        let journals: Result<_, _> = ended.into_iter().collect();
        journals.map_err(|_| "a node's thread panicked".into())
    }

    /// Ends the publishers, then the session, whatever becomes of either; returns how long that took.
    pub(crate) fn close(mut self) -> Result<u64, MiddlewareError> {
        let begin_ns = clock::now_ns();
        self.end()?;
        Ok((clock::now_ns() - begin_ns) as u64)
    }

    fn end(&mut self) -> Result<(), MiddlewareError> {
        let Some(session) = self.session.take() else {
            return Ok(());
        };
        self.gate.abandon();
        self.receivers.iter().for_each(|receiver| receiver.end());
        self.bells.iter().for_each(|bell| bell.ring());
        let executed = self.journals();
        let published = self.publishing.join();
        // A responder's publisher lives in its receiver's state: with these gone, the session's own receivers are all that holds it.
        self.receivers.clear();
        session.close()?;
        executed?;
        published
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only where something else has failed already, which is told in place of this.
        let _ = self.end();
    }
}

fn sender(
    spec: &ApplicationSpec,
    publication: Publication,
    publisher: StampingPublisher,
    gate: &Arc<WindowGate>,
) -> Sender {
    Sender {
        messages: publication.stream.most_messages(&spec.recording),
        stream: publication.stream.name,
        pattern: publication.stream.pattern,
        channel: publication.channel,
        publisher,
        token: spec.rendezvous.token,
        spin_ns: spec.placement.spin_ns as i64,
        recorder: publication.recorder,
        refusal: None,
        sent: 0,
        filling: Filling::default(),
        gate: Arc::clone(gate),
    }
}

/// How the typed messages of a spec are serialised.
fn serialisation(spec: &ApplicationSpec) -> Option<String> {
    let payloads = spec.streams.iter().filter_map(|stream| stream.payload);
    let mut words: Vec<_> = payloads
        .filter_map(|payload| payload.serialisation)
        .map(|serialisation| serialisation.to_string())
        .collect();
    words.sort();
    words.dedup();
    (!words.is_empty()).then(|| words.join(", "))
}

fn publishers_of_trial(spec: &ApplicationSpec) -> usize {
    spec.streams.iter().map(|stream| stream.publishers.len()).sum()
}

/// The node that has this publisher, and which of its outputs it is.
fn node_of(nodes: &[NodeParts], sender: &Sender) -> Option<(usize, usize)> {
    nodes.iter().enumerate().find_map(|(number, node)| {
        let is_own = |output: &NodeOutput| output.stream == sender.stream && output.index == sender.channel.index;
        Some((number, node.spec.outputs.iter().position(is_own)?))
    })
}

/// Gives each node its outputs, in the order in which it sends.
fn nodes(
    spec: &ApplicationSpec,
    reserved: Vec<NodeParts>,
    mut outputs: Vec<(usize, usize, OutputSender)>,
    gate: &Arc<WindowGate>,
) -> Vec<Node> {
    outputs.sort_by_key(|(node, output, _)| (*node, *output));
    let mut outputs = outputs.into_iter().peekable();
    let node = |(number, parts): (usize, NodeParts)| {
        let own = std::iter::from_fn(|| outputs.next_if(|(node, ..)| *node == number));
        Node {
            trigger: parts.spec.trigger,
            outputs: own.map(|(_, _, output)| output).collect(),
            inputs: parts.inputs,
            computation: parts.computation,
            bell: parts.bell,
            gate: Arc::clone(gate),
            spin_ns: spec.placement.spin_ns as i64,
            journal: parts.journal,
            taken: parts.taken,
        }
    };
    reserved.into_iter().enumerate().map(node).collect()
}

fn execute(node: Node, notes: Notes) -> io::Result<JoinHandle<Journal>> {
    thread::Builder::new().spawn(move || node.run(clock::now_ns(), &notes))
}

#[cfg(test)]
mod tests;
