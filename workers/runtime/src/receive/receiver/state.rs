//! What becomes of a subscriber's message once it is stamped: it is answered, counted, recorded and passed on.
//!
//! Answers go out first, so that counting delays none. `flow` counts, `recorder` stores, `answer` and `client` answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use middlemark_contract::Received;

use crate::clock;
use crate::message::channel::Channel;
use crate::message::header::{Header, Phase};
use crate::message::payload::{Check, Identity, Pool};
use crate::message::typed::{self, Form, Read};
use crate::node::input_queue::InputWriter;
use crate::receive::flow::{First, Flow};
use crate::receive::pieces;
use crate::recorder::{Overflow, Recorder};
use crate::send::answer::Answerer;
use crate::send::client::Client;
use crate::send::publish::PublisherMut;

/// What a subscriber does when a flow's first message has come; called twice a flow, off the measured window.
pub(crate) type OnFirst = Box<dyn Fn(First, u16, i64) + Send + Sync>;

/// What a subscriber does when a flow has all that the drain waits for; called after the measured window.
pub(crate) type OnComplete = Box<dyn Fn() + Send + Sync>;

/// Everything behind a receiver.
pub(crate) struct ReceiverState {
    pub(crate) channel: Channel,
    pub(crate) token: u32,
    pub(crate) late_after_ns: i64,
    /// The bytes to compare with, where messages are verified.
    pub(crate) verify: Option<Arc<Pool>>,
    /// Of typed messages; none where bodies are octets.
    pub(crate) form: Option<Form>,
    /// By publisher; on an answers' channel by the subscriber that answered.
    pub(crate) flows: Box<[Flow]>,
    pub(crate) recorder: Recorder<Received>,
    pub(crate) overflow: Box<[Overflow]>,
    pub(crate) foreign: AtomicU64,
    pub(crate) on_first: OnFirst,
    pub(crate) on_complete: OnComplete,
    pub(crate) part: Part,
}

/// What this subscriber is in its stream.
pub(crate) enum Part {
    /// It only receives.
    Listener,
    /// It is the input of a node.
    NodeInput(InputWriter),
    /// It answers each message: the responder of a ping-pong, or a server.
    Responder(Answerer),
    /// It is a client and gets the answers.
    Client(Client),
}

impl ReceiverState {
    /// Answers no more.
    pub(crate) fn end(&self) {
        if let Part::Responder(answerer) = &self.part {
            answerer.end();
        }
    }

    /// The state of one that listens, with memory for so many messages of each publisher and so many samples of all; it
    /// finds no message late, verifies none and tells nobody.
    pub(crate) fn new(channel: Channel, token: u32, messages: u32, samples: usize) -> ReceiverState {
        let flows = channel.publishers.len();
        ReceiverState {
            channel,
            token,
            late_after_ns: i64::MAX,
            verify: None,
            form: None,
            flows: (0..flows).map(|_| Flow::new(messages)).collect(),
            recorder: Recorder::new(samples, Received::default()),
            overflow: (0..flows).map(|_| Overflow::new()).collect(),
            foreign: AtomicU64::new(0),
            on_first: Box::new(|_, _, _| {}),
            on_complete: Box::new(|| {}),
            part: Part::Listener,
        }
    }

    /// Takes a message that was received at an instant; `is_valid` says whether what was read of it counts.
    #[inline]
    pub(super) fn take<'a>(
        &self,
        received_ns: i64,
        pieces: impl Iterator<Item = &'a [u8]> + Clone,
        is_valid: impl Fn() -> bool,
    ) {
        self.take_request(received_ns, pieces, is_valid, None);
    }

    /// The same of a message that may be a request: then `reply` sends its response.
    #[inline]
    pub(super) fn take_request<'a>(
        &self,
        received_ns: i64,
        pieces: impl Iterator<Item = &'a [u8]> + Clone,
        is_valid: impl Fn() -> bool,
        reply: Option<PublisherMut<'_>>,
    ) {
        let Some(header) = pieces::header(pieces.clone()) else {
            self.foreign.fetch_add(1, Relaxed);
            return;
        };
        if !is_valid() {
            return;
        }
        if header.token != self.token || header.channel != self.channel.number {
            self.foreign.fetch_add(1, Relaxed);
            return;
        }
        if matches!(self.part, Part::Client(_)) && header.asker != self.channel.index {
            return; // an answer to another client of the same topic
        }
        let Some(flow) = self.flows.get(usize::from(header.publisher)) else {
            self.foreign.fetch_add(1, Relaxed);
            return;
        };
        match &self.part {
            Part::Listener | Part::NodeInput(_) => {}
            Part::Responder(answerer) => answerer.answer(&header, reply),
            Part::Client(client) => client.answered(&header),
        }
        for first in flow.firsts(header.phase != Phase::Greeting) {
            (self.on_first)(first, header.publisher, received_ns);
        }
        match header.phase {
            Phase::Window => self.count(flow, &header, received_ns, pieces, is_valid),
            Phase::Approach => {
                if let Some(form) = &self.form {
                    self.deserialise(form, &header, pieces); // as within the window, to warm up
                }
                self.pass_on(&header, received_ns);
            }
            Phase::Greeting => {}
        }
    }

    #[inline]
    fn count<'a>(
        &self,
        flow: &Flow,
        header: &Header,
        received_ns: i64,
        pieces: impl Iterator<Item = &'a [u8]> + Clone,
        is_valid: impl Fn() -> bool,
    ) {
        let Some(deserialise_ns) = self.read(header, pieces) else {
            flow.corrupt.fetch_add(u64::from(is_valid()), Relaxed);
            return;
        };
        if !flow.admit(header.sequence, received_ns) {
            return;
        }
        self.pass_on(header, received_ns);
        let latency_ns = received_ns.saturating_sub(header.sent_ns);
        if self.waited_ns(header, received_ns) > self.late_after_ns {
            flow.late.fetch_add(1, Relaxed);
        }
        if latency_ns < 0 {
            flow.negative.fetch_add(1, Relaxed);
        }
        let sample = Received {
            deserialise_ns,
            ..self.sample(header, received_ns)
        };
        if !self.recorder.record(sample) {
            flow.beyond_samples.fetch_add(1, Relaxed);
            self.overflow[usize::from(header.publisher)].record(self.logged_ns(header, received_ns));
        }
        if flow.finish() {
            (self.on_complete)();
        }
    }

    /// What decides whether a message is late: of a response, the time since its request was sent.
    #[inline]
    fn waited_ns(&self, header: &Header, received_ns: i64) -> i64 {
        match self.part {
            Part::Client(Client::Calls(_)) => received_ns.saturating_sub(header.intended_ns),
            _ => received_ns.saturating_sub(header.sent_ns),
        }
    }

    /// What a message beyond the sample memory leaves: its latency from the send, an answer the round trip that it ended.
    #[inline]
    fn logged_ns(&self, header: &Header, received_ns: i64) -> i64 {
        match self.part {
            Part::Client(_) => received_ns.saturating_sub(header.intended_ns),
            _ => received_ns.saturating_sub(header.sent_ns),
        }
    }

    /// Has the node run, where this is an input of one; of the window's messages it gets each once, and only whole ones.
    #[inline]
    fn pass_on(&self, header: &Header, received_ns: i64) {
        if let Part::NodeInput(writer) = &self.part {
            writer.offer(header, received_ns);
        }
    }

    /// Reads a message of the window; how long deserialising it took, none where it is not intact.
    #[inline]
    fn read<'a>(&self, header: &Header, pieces: impl Iterator<Item = &'a [u8]> + Clone) -> Option<u32> {
        let size_bytes: usize = pieces.clone().map(<[u8]>::len).sum();
        if size_bytes != self.channel.message_bytes(header.phase, header.sequence) {
            return None;
        }
        if let Some(form) = &self.form {
            return self.deserialise(form, header, pieces);
        }
        let Some(pool) = &self.verify else { return Some(0) };
        let mut check = Check::new(pool, Identity::of(header), size_bytes);
        pieces::bodies(pieces).for_each(|body| check.piece(body));
        check.passed().then_some(0)
    }

    /// Deserialises a typed message, as its application would; the same.
    #[inline(never)]
    fn deserialise<'a>(
        &self,
        form: &Form,
        header: &Header,
        pieces: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> Option<u32> {
        let begun_ns = clock::now_ns();
        let body = pieces::joined(pieces::bodies(pieces));
        let read = form.read(&body)?;
        let deserialise_ns = match read {
            Read::InPlace(_) => 0,
            Read::Sample(_) => typed::elapsed_ns(begun_ns),
        };
        let is_right = |pool: &Arc<Pool>| form.is_right(read, Identity::of(header), pool);
        self.verify.as_ref().is_none_or(is_right).then_some(deserialise_ns)
    }

    #[inline]
    fn sample(&self, header: &Header, received_ns: i64) -> Received {
        let (publisher, subscriber, answer) = match self.part {
            Part::Client(_) => (header.asker, header.publisher, 1),
            _ => (header.publisher, self.channel.index, 0),
        };
        Received {
            stream: self.channel.number / 2,
            answer,
            publisher,
            subscriber,
            sequence: header.sequence,
            intended_ns: header.intended_ns,
            sent_ns: header.sent_ns,
            received_ns,
            deserialise_ns: 0,
        }
    }
}
