//! The two ends of the runtime without a middleware between them, for what measures the harness itself.
//!
//! It makes a receiver and a publisher's loop exactly as an application does, and `ping_pong` both ends of one; `bench/`
//! times them, `tests/hot_path.rs` counts their allocations and system calls. Only with the feature `harness`.

mod ping_pong;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use middlemark_contract::{Arrival, PatternSpec, PayloadKind, Published, Qos, Serialisation};

use crate::clock;
use crate::message::channel::Channel;
use crate::message::header::{HEADER_BYTES, Header, Phase};
use crate::message::payload::{Identity, Pool};
use crate::message::ports::ChannelEndpoint;
use crate::message::typed::Form;
use crate::receive::receiver::Receiver;
use crate::receive::receiver::state::ReceiverState;
use crate::recorder::Recorder;
use crate::send::gate::Window;
use crate::send::matched::Matched;
use crate::send::publish::Publisher;
use crate::send::publisher_thread::{PublisherThread, self_paced};
use crate::send::sender::{Filling, Sender};
use crate::send::stamping_publisher::StampingPublisher;

pub use ping_pong::PingPong;

const TOKEN: u32 = 7;
const PATTERN: PatternSpec = PatternSpec::Unthrottled {
    approach_hz: 1.0,
    messages: None,
};

/// A receiver with sample memory for `messages` messages of `size_bytes`.
#[must_use]
pub fn receiver(size_bytes: usize, messages: u32) -> Receiver {
    let state = ReceiverState::new(channel(size_bytes), TOKEN, messages, messages as usize);
    Receiver::new(Arc::new(state))
}

/// The header of a message that such a receiver takes; the bytes behind it are free.
#[must_use]
pub fn header(sequence: u32) -> [u8; HEADER_BYTES] {
    let header = Header {
        sent_ns: clock::now_ns(),
        intended_ns: 0,
        sequence,
        token: TOKEN,
        channel: 0,
        publisher: 0,
        asker: 0,
        phase: Phase::Window,
    };
    header.encode()
}

/// A publisher's loop, reserved and ready.
pub struct Flood {
    thread: PublisherThread,
    messages: u32,
}

impl Flood {
    /// The loop that hands `messages` messages of `size_bytes` to `publisher`, as fast as it takes them.
    #[must_use]
    pub fn new(publisher: Publisher, size_bytes: usize, messages: u32) -> Flood {
        Flood::of(publisher, size_bytes, None, messages)
    }

    /// The same of typed messages.
    ///
    /// # Panics
    /// There is no such message of this size.
    #[must_use]
    pub fn of_type(
        publisher: Publisher,
        kind: PayloadKind,
        serialisation: Serialisation,
        size_bytes: usize,
        messages: u32,
    ) -> Flood {
        let form = Form::of(kind, serialisation, size_bytes).expect("a size that the type has");
        Flood::of(publisher, size_bytes, Some(form), messages)
    }

    fn of(publisher: Publisher, size_bytes: usize, form: Option<Form>, messages: u32) -> Flood {
        let gate = Arc::default();
        Flood {
            thread: PublisherThread::of(vec![sender(publisher, size_bytes, form, messages)], &gate),
            messages,
        }
    }

    /// Runs the loop; returns how long it took.
    pub fn run(&mut self) -> i64 {
        let begin_ns = clock::now_ns();
        let window = Window::joined_at(begin_ns, begin_ns, i64::MAX);
        self_paced::flood(&mut self.thread.senders[0], window, self.messages).last_returned_ns - begin_ns
    }
}

/// The same publisher by its schedule, and one message at a time.
impl Flood {
    /// Sends the message of this number, as one that is due now.
    #[inline]
    pub fn send(&mut self, sequence: u32) {
        self.thread.senders[0].send(sequence, clock::now_ns(), 0);
    }

    /// Follows a schedule that is always ahead of the publisher, so that it never sleeps; returns how long it took.
    pub fn run_behind_schedule(&mut self) -> i64 {
        const WINDOW_NS: i64 = 60_000_000_000;
        self.thread.senders[0].pattern = PatternSpec::Periodic {
            rate_hz: 1e9,
            arrival: Arrival::Fixed,
        };
        let begin_ns = clock::now_ns() - i64::from(self.messages);
        let window = Window::joined_at(begin_ns, begin_ns, begin_ns + WINDOW_NS);
        let started_ns = clock::now_ns();
        self.thread.follow_schedule(window)[0].last_returned_ns - started_ns
    }
}

/// A publisher that sends as fast as it can, with memory for so many messages.
fn sender(publisher: Publisher, size_bytes: usize, form: Option<Form>, messages: u32) -> Sender {
    let pool = Arc::new(Pool::new(TOKEN, size_bytes));
    Sender {
        stream: "harness".into(),
        pattern: PATTERN,
        channel: channel(size_bytes),
        publisher: StampingPublisher::new(publisher, size_bytes, form, pool),
        token: TOKEN,
        spin_ns: 0,
        messages,
        recorder: Arc::new(Recorder::new(messages as usize, Published::default())),
        refusal: None,
        sent: 0,
        filling: Filling::default(),
        gate: Arc::default(),
    }
}

/// What writing the bodies of `messages` messages takes by itself: the part of the loop that is the application's.
#[must_use]
pub fn fill_ns(size_bytes: usize, messages: u32) -> i64 {
    let pool = Pool::new(TOKEN, size_bytes);
    let mut buffer = vec![0; size_bytes];
    let begin_ns = clock::now_ns();
    for sequence in 0..messages {
        let body = pool.body(
            Identity {
                channel: 0,
                publisher: 0,
                sequence,
            },
            size_bytes,
        );
        std::hint::black_box(&mut buffer)[HEADER_BYTES..].copy_from_slice(body);
    }
    clock::now_ns() - begin_ns
}

/// Where nobody hears of a match.
#[must_use]
pub fn unheard_match() -> Matched {
    Matched::new(|_| ())
}

/// The channel of these two ends: one publisher, one subscriber, reliable, blocking; its ports are still to be set.
#[must_use]
pub fn channel(size_bytes: usize) -> Channel {
    let endpoint = ChannelEndpoint {
        application: "harness".into(),
        socket: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
    };
    Channel {
        topic: "harness".into(),
        number: 0,
        size_bytes,
        recorded: None,
        rate_hz: f64::INFINITY,
        qos: Qos::RELIABLE,
        publishers: vec![endpoint.clone()],
        subscribers: vec![endpoint],
        index: 0,
    }
}
