//! Reserves everything an application needs before its middleware exists: receivers, sample memory, payload, turns.
//!
//! It allocates and touches memory and starts nothing; `application` then gives the parts to the session.

use std::collections::HashMap;
use std::sync::Arc;

use middlemark_contract::{
    ApplicationSpec, NodeSpec, PatternSpec, Published, Refusal, Role, StreamSpec, Trigger, TriggerSpec,
};

use crate::message::channel::Channel;
use crate::message::payload::Pool;
use crate::message::typed::{self, Form};
use crate::node::compute::{self, Computation};
use crate::node::input_queue::{self, Bell, InputReader, InputWriter};
use crate::node::journal::Journal;
use crate::node::thread::Taken;
use crate::process::inbox::{Note, Notes};
use crate::receive::receiver::state::{Part, ReceiverState};
use crate::recorder::Recorder;
use crate::send::client::Client;
use crate::send::client::calls::Calls;
use crate::send::client::turn::Turn;

/// What an application holds of its trial, reserved.
pub(crate) struct Reserved {
    pub(crate) channels: Vec<Channel>,
    pub(crate) pool: Arc<Pool>,
    /// Of the channels with typed messages, by number.
    forms: HashMap<u16, Form>,
    pub(crate) subscriptions: Vec<Subscription>,
    pub(crate) publications: Vec<Publication>,
    pub(crate) nodes: Vec<NodeParts>,
}

/// A node of this application, without its publishers, which the session has yet to make.
pub(crate) struct NodeParts {
    pub(crate) spec: NodeSpec,
    pub(crate) inputs: Vec<InputReader>,
    pub(crate) computation: Computation,
    pub(crate) bell: Arc<Bell>,
    pub(crate) journal: Journal,
    pub(crate) taken: Taken,
}

/// A subscriber of this application, a server too; a ping-pong's client is one of its answers.
pub(crate) struct Subscription {
    pub(crate) channel: Channel,
    /// Where messages are answered: the answers' channel at this subscriber's index.
    pub(crate) answers: Option<Channel>,
    /// Of these answers, where they are typed messages.
    pub(crate) answers_form: Option<Form>,
    /// Of a server: what it computes for each response.
    pub(crate) computation: Option<Computation>,
    pub(crate) receiver: ReceiverState,
}

/// A publisher of this application, a client too.
pub(crate) struct Publication {
    pub(crate) channel: Channel,
    /// Where its messages are typed.
    pub(crate) form: Option<Form>,
    pub(crate) stream: StreamSpec,
    pub(crate) recorder: Arc<Recorder<Published>>,
    pub(crate) client: Option<Client>,
    /// Of a server's client, which gets its responses by itself: their channel, and what they come into.
    pub(crate) responses: Option<(Channel, ReceiverState)>,
}

impl Reserved {
    /// Reserves all memory of an accepted spec.
    ///
    /// # Errors
    /// The refusal of a distribution of times to compute that there is none of, or of a size that a payload can't have.
    pub(crate) fn new(spec: &ApplicationSpec, channels: Vec<Channel>, notes: &Notes) -> Result<Reserved, Refusal> {
        let largest_bytes = channels.iter().map(|channel| channel.size_bytes).max().unwrap_or(0);
        let pool = Arc::new(Pool::new(spec.rendezvous.token, largest_bytes));
        let mut reserved = Reserved {
            forms: typed::forms(spec, &channels)?,
            channels,
            pool,
            subscriptions: Vec::new(),
            publications: Vec::new(),
            nodes: Vec::new(),
        };
        let mut writers = reserved.reserve_nodes(spec)?;
        for endpoint in &spec.endpoints {
            let stream = spec
                .streams
                .iter()
                .find(|stream| stream.name == endpoint.stream)
                .expect("the spec is accepted");
            let messages = reserved.channel(&stream.name, spec, 0).at(endpoint.index);
            let answers = stream
                .pattern
                .answer_bytes()
                .map(|_| reserved.channel(&stream.name, spec, 1).at(endpoint.index));
            match endpoint.role {
                Role::Subscriber => {
                    let writer = writers.remove(&(endpoint.stream.clone(), endpoint.index));
                    let part = writer.map_or(Part::Listener, Part::NodeInput);
                    let receiver = reserved.receiver(spec, stream, &messages, part, notes);
                    reserved.subscriptions.push(Subscription {
                        computation: server_time(stream, endpoint.index)?,
                        answers_form: answers.as_ref().and_then(|channel| reserved.form(channel)),
                        channel: messages,
                        answers,
                        receiver,
                    });
                }
                Role::Publisher => reserved.publish(spec, stream, messages, answers, notes),
            }
        }
        Ok(reserved)
    }

    /// The nodes; returns the ends of their inputs for the subscribers, by stream and index.
    fn reserve_nodes(&mut self, spec: &ApplicationSpec) -> Result<HashMap<(String, u16), InputWriter>, Refusal> {
        let mut writers = HashMap::new();
        if spec.nodes.is_empty() {
            return Ok(writers);
        }
        let rounds_per_ns = compute::rounds_per_ns();
        for node in &spec.nodes {
            let bell = Arc::default();
            let (inputs, ends) = input_queue::inputs(node, &bell);
            let keys = node.inputs.iter().map(|input| (input.stream.clone(), input.index));
            writers.extend(keys.zip(ends));
            let computation = Computation::new(node.compute, node.seed, rounds_per_ns).map_err(|reason| Refusal {
                capability: "spec".into(),
                reason: format!("the node '{}' can't compute: {reason}", node.name),
            })?;
            let (executions, messages) = most_records(node, spec);
            self.nodes.push(NodeParts {
                journal: Journal::new(node, trigger(node), executions, messages),
                taken: Taken::new(node, &inputs),
                spec: node.clone(),
                inputs,
                computation,
                bell,
            });
        }
        Ok(writers)
    }

    fn channel(&self, stream: &str, spec: &ApplicationSpec, answers: u16) -> &Channel {
        let position = spec
            .streams
            .iter()
            .position(|other| other.name == stream)
            .expect("the spec is accepted") as u16;
        self.channels
            .iter()
            .find(|channel| channel.number == 2 * position + answers)
            .expect("every stream has its channel")
    }

    fn form(&self, channel: &Channel) -> Option<Form> {
        self.forms.get(&channel.number).copied()
    }

    fn publish(
        &mut self,
        spec: &ApplicationSpec,
        stream: &StreamSpec,
        channel: Channel,
        answers: Option<Channel>,
        notes: &Notes,
    ) {
        let (client, mut responses) = (client(stream), None);
        if let (Some(client), Some(answers)) = (client.clone(), answers) {
            let is_topic = matches!(client, Client::Turn(_));
            let receiver = self.receiver(spec, stream, &answers, Part::Client(client), notes);
            if is_topic {
                self.subscriptions.push(Subscription {
                    channel: answers,
                    answers: None,
                    answers_form: None,
                    computation: None,
                    receiver,
                });
            } else {
                responses = Some((answers, receiver));
            }
        }
        let recorder = Arc::new(Recorder::new(samples(spec, stream, 1), Published::default()));
        self.publications.push(Publication {
            form: self.form(&channel),
            channel,
            stream: stream.clone(),
            recorder,
            client,
            responses,
        });
    }

    fn receiver(
        &self,
        spec: &ApplicationSpec,
        stream: &StreamSpec,
        channel: &Channel,
        part: Part,
        notes: &Notes,
    ) -> ReceiverState {
        let (first, complete) = (notes.clone(), notes.clone());
        let (name, index, is_client) = (stream.name.clone(), channel.index, matches!(part, Part::Client(_)));
        let messages = stream.most_messages(&spec.recording);
        let samples = samples(spec, stream, channel.publishers.len());
        let late_after_ns = match &part {
            Part::Client(Client::Calls(calls)) => calls.timeout_ns(),
            _ => spec.recording.late_after_ns as i64,
        };
        ReceiverState {
            late_after_ns,
            verify: spec.verify.then(|| Arc::clone(&self.pool)),
            form: self.form(channel),
            on_first: Box::new(move |kind, from, received_ns| {
                let (publisher, subscriber) = if is_client { (index, from) } else { (from, index) };
                let _ = first.send(Note::First {
                    kind,
                    stream: name.clone(),
                    answers: is_client,
                    publisher,
                    subscriber,
                    received_ns,
                });
            }),
            on_complete: Box::new(move || {
                let _ = complete.send(Note::Complete);
            }),
            part,
            ..ReceiverState::new(channel.clone(), spec.rendezvous.token, messages, samples)
        }
    }
}

/// What a publisher waits for answers with; none where it gets none.
fn client(stream: &StreamSpec) -> Option<Client> {
    match stream.pattern {
        PatternSpec::PingPong { .. } => Some(Client::Turn(Arc::new(Turn::new()))),
        PatternSpec::RequestResponse {
            outstanding,
            timeout_ns,
            ..
        } => Some(Client::Calls(Arc::new(Calls::new(outstanding, timeout_ns as i64)))),
        _ => None,
    }
}

/// What a server computes for each response; none where the stream has no server.
fn server_time(stream: &StreamSpec, server: u16) -> Result<Option<Computation>, Refusal> {
    let PatternSpec::RequestResponse { server_time, seed, .. } = stream.pattern else {
        return Ok(None);
    };
    let seed = seed.wrapping_add(u64::from(server));
    let computation = Computation::new(server_time, seed, compute::rounds_per_ns()).map_err(|reason| Refusal {
        capability: "spec".into(),
        reason: format!("the servers of '{}' can't compute: {reason}", stream.name),
    })?;
    Ok(Some(computation))
}

/// How many samples are kept of the messages that so many publishers of a stream send: all there can be, or as many as the
/// spec says where that is less.
fn samples(spec: &ApplicationSpec, stream: &StreamSpec, publishers: usize) -> usize {
    let most = u64::from(stream.most_messages(&spec.recording)) * publishers as u64;
    spec.recording.samples.min(most) as usize
}

/// How many executions and taken messages of a node are reserved for: the samples that one endpoint has, or all there can
/// be where that is less.
fn most_records(node: &NodeSpec, spec: &ApplicationSpec) -> (usize, usize) {
    let messages = u64::from(spec.recording.messages);
    let ends = node.inputs.len().max(1) as u64;
    let most = spec.recording.samples.min(messages * ends) as usize;
    (most, if node.inputs.is_empty() { 0 } else { most })
}

fn trigger(node: &NodeSpec) -> Trigger {
    match node.trigger {
        TriggerSpec::Source { .. } | TriggerSpec::Unthrottled { .. } => Trigger::Source,
        TriggerSpec::Timer { .. } => Trigger::Timer,
        TriggerSpec::Message { .. } => Trigger::Message,
    }
}
