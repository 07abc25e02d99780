//! The inlet: where a middleware hands over the messages of one subscriber.
//!
//! It stamps, answers (in a ping-pong), counts and records, in this order, without a lock, an allocation or a system
//! call of its own on the way to the stamp; it knows no middleware. `flow` counts, `recorder` stores, `answer` answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use middlemark_contract::Received;

use crate::answer::{Answerer, Turn};
use crate::channel::Channel;
use crate::clock;
use crate::feed::Feed;
use crate::flow::Flow;
use crate::header::{HEADER_BYTES, Header, Phase};
use crate::payload::{Check, Identity, Pool};
use crate::recorder::{Overflow, Recorder};

/// Where a middleware hands over messages. Cheap to clone; any thread may call it, several at once too.
#[derive(Clone)]
pub struct Inlet(Arc<Intake>);

impl Inlet {
    pub(crate) fn new(intake: Arc<Intake>) -> Inlet {
        Inlet(intake)
    }

    /// Takes a message that lies in one piece. Call it at once when the middleware hands the message over.
    #[inline]
    pub fn receive(&self, message: &[u8]) {
        let received_ns = clock::now_ns();
        self.0.take(received_ns, std::iter::once(message));
    }

    /// Takes the message that a slot of the channel's largest size begins with.
    #[inline]
    pub fn receive_slot(&self, slot: &[u8]) {
        let received_ns = clock::now_ns();
        let length = self.0.channel.bytes_of(slot).unwrap_or(slot.len()).min(slot.len());
        self.0.take(received_ns, std::iter::once(&slot[..length]));
    }

    /// Takes a message that lies in several pieces, without joining them.
    #[inline]
    pub fn receive_pieces<'a>(&self, pieces: impl Iterator<Item = &'a [u8]> + Clone) {
        let received_ns = clock::now_ns();
        self.0.take(received_ns, pieces);
    }

    /// The stamp for [`Self::receive_at`], where a worker must do something (take a lock, look for a reassembly) before
    /// it can hand a message over that it already has.
    #[must_use]
    #[inline]
    pub fn stamp() -> i64 {
        clock::now_ns()
    }

    /// Takes a message that was received at `received_ns` (see [`Self::stamp`]).
    #[inline]
    pub fn receive_at(&self, received_ns: i64, message: &[u8]) {
        self.0.take(received_ns, std::iter::once(message));
    }
}

/// What a subscriber does when a flow's first message has come; called once a flow, off the measured window.
pub(crate) type OnFirst = Box<dyn Fn(u16, i64) + Send + Sync>;

/// What a subscriber does when a flow has all that the drain waits for; called after the measured window.
pub(crate) type OnComplete = Box<dyn Fn() + Send + Sync>;

/// Everything behind an inlet.
pub(crate) struct Intake {
    pub(crate) channel: Channel,
    pub(crate) token: u32,
    pub(crate) late_after_ns: i64,
    /// The bytes to compare with, where messages are verified.
    pub(crate) verify: Option<Arc<Pool>>,
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
    Input(Feed),
    /// It answers each message of a ping-pong.
    Responder(Answerer),
    /// It is the client of a ping-pong and gets the answers.
    Client(Arc<Turn>),
}

impl Intake {
    #[inline]
    fn take<'a>(&self, received_ns: i64, pieces: impl Iterator<Item = &'a [u8]> + Clone) {
        let Some(header) = first_bytes(pieces.clone()).as_ref().and_then(Header::decode) else {
            self.foreign.fetch_add(1, Relaxed);
            return;
        };
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
            Part::Listener | Part::Input(_) => {}
            Part::Responder(answerer) => answerer.answer(&header),
            Part::Client(turn) => turn.answered(&header),
        }
        if flow.is_first(received_ns) {
            (self.on_first)(header.publisher, received_ns);
        }
        if header.phase == Phase::Window {
            self.count(flow, &header, received_ns, pieces);
        } else {
            self.feed(&header, received_ns);
        }
    }

    #[inline]
    fn count<'a>(
        &self,
        flow: &Flow,
        header: &Header,
        received_ns: i64,
        pieces: impl Iterator<Item = &'a [u8]> + Clone,
    ) {
        if !self.is_intact(header, pieces) {
            flow.corrupt.fetch_add(1, Relaxed);
            return;
        }
        if !flow.admit(header.sequence, received_ns) {
            return;
        }
        self.feed(header, received_ns);
        let latency_ns = received_ns - header.sent_ns;
        if latency_ns > self.late_after_ns {
            flow.late.fetch_add(1, Relaxed);
        }
        if latency_ns < 0 {
            flow.negative.fetch_add(1, Relaxed);
        }
        if !self.recorder.record(self.sample(header, received_ns)) {
            flow.beyond_samples.fetch_add(1, Relaxed);
            self.overflow[usize::from(header.publisher)].record(self.logged_ns(header, received_ns));
        }
        if flow.finish() {
            (self.on_complete)();
        }
    }

    /// What a message beyond the sample memory leaves: its latency from the send, an answer the round trip that it ended.
    #[inline]
    fn logged_ns(&self, header: &Header, received_ns: i64) -> i64 {
        match self.part {
            Part::Client(_) => received_ns - header.intended_ns,
            _ => received_ns - header.sent_ns,
        }
    }

    /// Has the node run, where this is an input of one; of the window's messages it gets each once, and only whole ones.
    #[inline]
    fn feed(&self, header: &Header, received_ns: i64) {
        if let Part::Input(feed) = &self.part {
            feed.offer(header, received_ns);
        }
    }

    fn is_intact<'a>(&self, header: &Header, pieces: impl Iterator<Item = &'a [u8]> + Clone) -> bool {
        let size_bytes: usize = pieces.clone().map(<[u8]>::len).sum();
        if size_bytes != self.channel.message_bytes(header.sequence) {
            return false;
        }
        let Some(pool) = &self.verify else { return true };
        let mut check = Check::new(pool, body_identity(header), size_bytes);
        let mut skip = HEADER_BYTES;
        for piece in pieces {
            let skipped = skip.min(piece.len());
            check.piece(&piece[skipped..]);
            skip -= skipped;
        }
        check.passed()
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
        }
    }
}

/// Which body a message has. Answers all have the same, so that it is written before the question comes.
pub(crate) fn body_identity(header: &Header) -> Identity {
    let sequence = if header.channel % 2 == 1 { 0 } else { header.sequence };
    Identity {
        channel: header.channel,
        publisher: header.publisher,
        sequence,
    }
}

/// The header's bytes, wherever the pieces are cut.
#[inline]
fn first_bytes<'a>(mut pieces: impl Iterator<Item = &'a [u8]>) -> Option<[u8; HEADER_BYTES]> {
    let first = pieces.next()?;
    if let Some(whole) = first.first_chunk::<HEADER_BYTES>() {
        return Some(*whole);
    }
    let mut bytes = [0; HEADER_BYTES];
    let mut filled = 0;
    for piece in std::iter::once(first).chain(pieces) {
        let length = piece.len().min(HEADER_BYTES - filled);
        bytes[filled..filled + length].copy_from_slice(&piece[..length]);
        filled += length;
        if filled == HEADER_BYTES {
            return Some(bytes);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use middlemark_contract::{Congestion, Durability, History, Qos, Reliability};

    use super::*;

    const QOS: Qos = Qos {
        reliability: Reliability::Reliable,
        history: History::KeepAll,
        durability: Durability::Volatile,
        congestion: Congestion::Block,
        level: None,
    };
    const SIZE_BYTES: usize = 100;

    fn intake(first: Arc<Mutex<Vec<u16>>>) -> Arc<Intake> {
        let blank = Received {
            stream: 0,
            answer: 0,
            publisher: 0,
            subscriber: 0,
            sequence: 0,
            intended_ns: 0,
            sent_ns: 0,
            received_ns: 0,
        };
        Arc::new(Intake {
            channel: Channel {
                topic: "t".into(),
                number: 2,
                size_bytes: SIZE_BYTES,
                recorded: None,
                rate_hz: 1.0,
                qos: QOS,
                publishers: Vec::new(),
                subscribers: Vec::new(),
                index: 1,
            },
            token: 5,
            late_after_ns: 1_000_000_000,
            verify: Some(Arc::new(Pool::new(5, SIZE_BYTES))),
            flows: [Flow::new(10), Flow::new(10)].into(),
            recorder: Recorder::new(2, blank),
            overflow: [Overflow::new(), Overflow::new()].into(),
            foreign: AtomicU64::new(0),
            on_first: Box::new(move |publisher, _| first.lock().unwrap().push(publisher)),
            on_complete: Box::new(|| {}),
            part: Part::Listener,
        })
    }

    fn message(publisher: u16, sequence: u32, change: impl Fn(&mut Header)) -> Vec<u8> {
        let mut header = Header {
            sent_ns: clock::now_ns(),
            intended_ns: 1,
            sequence,
            token: 5,
            channel: 2,
            publisher,
            asker: 0,
            phase: Phase::Window,
        };
        let pool = Pool::new(5, SIZE_BYTES);
        let body = pool.body(body_identity(&header), SIZE_BYTES).to_vec();
        change(&mut header);
        [header.encode().as_slice(), &body].concat()
    }

    #[test]
    fn messages_in_any_number_of_pieces_are_recorded_and_beyond_the_memory_counted() {
        let first = Arc::new(Mutex::new(Vec::new()));
        let intake = intake(Arc::clone(&first));
        let inlet = Inlet::new(Arc::clone(&intake));
        inlet.receive(&message(0, 0, |_| {}));
        inlet.receive_pieces(message(1, 0, |_| {}).chunks(9));
        inlet.receive(&message(1, 1, |_| {}));
        assert_eq!(*first.lock().unwrap(), [0, 1]);
        let count = intake.recorder.seal();
        // SAFETY: sealed, and no other thread records.
        let samples: Vec<_> = unsafe { intake.recorder.samples(count) }.collect();
        let flows: Vec<_> = samples
            .iter()
            .map(|sample| (sample.stream, sample.publisher, sample.subscriber))
            .collect();
        assert_eq!(flows, [(1, 0, 1), (1, 1, 1)]);
        assert!(
            samples
                .iter()
                .all(|sample| sample.received_ns >= sample.sent_ns && sample.answer == 0)
        );
        assert_eq!(intake.flows[1].beyond_samples.load(Relaxed), 1);
        assert_eq!(intake.overflow[1].counts().count(), 1);
    }

    #[test]
    fn what_is_wrong_is_counted_by_what_is_wrong_with_it() {
        let intake = intake(Arc::default());
        let inlet = Inlet::new(Arc::clone(&intake));
        inlet.receive(b"too short");
        inlet.receive(&message(0, 0, |header| header.token = 6));
        inlet.receive(&message(0, 0, |header| header.channel = 4));
        inlet.receive(&message(7, 0, |_| {}));
        assert_eq!(intake.foreign.load(Relaxed), 4);
        inlet.receive(&message(0, 0, |header| header.sequence = 1));
        inlet.receive(&message(0, 0, |_| {})[..99]);
        assert_eq!(intake.flows[0].corrupt.load(Relaxed), 2);
        inlet.receive(&message(0, 0, |header| header.sent_ns = i64::MAX));
        assert_eq!(intake.flows[0].negative.load(Relaxed), 1);
        inlet.receive(&message(0, 1, |header| header.sent_ns -= 2_000_000_000));
        assert_eq!((intake.flows[0].late.load(Relaxed), intake.flows[0].arrived()), (1, 2));
    }

    #[test]
    fn the_approach_is_noticed_but_not_counted() {
        let first = Arc::new(Mutex::new(Vec::new()));
        let intake = intake(Arc::clone(&first));
        Inlet::new(Arc::clone(&intake)).receive(&message(0, 0, |header| header.phase = Phase::Approach));
        assert_eq!((first.lock().unwrap().len(), intake.flows[0].arrived()), (1, 0));
    }
}
