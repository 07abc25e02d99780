use std::sync::mpsc::{Sender as Channel, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use middlemark_contract::{PatternSpec, Published, PublisherCounts};

use super::*;
use crate::clock;
use crate::harness;
use crate::message::payload::Pool;
use crate::recorder::Recorder;
use crate::send::client::Client;
use crate::send::gate::Window;
use crate::send::publish::{Publish, PublishError, Publisher};
use crate::send::publisher_thread::PublisherThread;
use crate::send::sender::{Filling, Sender};
use crate::send::stamping_publisher::StampingPublisher;

const SIZE_BYTES: usize = 64;
const WINDOW_NS: i64 = 60_000_000_000;

/// Who asked, question by question.
type Asked = Arc<Mutex<Vec<ThreadId>>>;

/// Notes who asks, and hands each question to `reply`.
struct Noting<Reply> {
    asked: Asked,
    reply: Reply,
}

impl<Reply: FnMut(Header) -> Result<(), PublishError> + Send> Publish for Noting<Reply> {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        self.asked.lock().unwrap().push(thread::current().id());
        (self.reply)(Header::decode(message.first_chunk().unwrap()).unwrap())
    }
}

/// Asks so many questions in a window; gives the counts, and who asked.
fn asked(
    turn: &Arc<Turn>,
    messages: u64,
    (interval_ns, patience_ns): (u64, u64),
    reply: impl FnMut(Header) -> Result<(), PublishError> + Send + 'static,
) -> (PublisherCounts, Vec<ThreadId>) {
    let asked = Asked::default();
    let publisher = Publisher::Copying(Box::new(Noting {
        asked: Arc::clone(&asked),
        reply,
    }));
    let sender = Sender {
        stream: "s".into(),
        pattern: PatternSpec::PingPong {
            approach_hz: 1.0,
            answer_bytes: SIZE_BYTES as u64,
            interval_ns,
            patience_ns,
            messages: Some(messages),
        },
        channel: harness::channel(SIZE_BYTES),
        publisher: StampingPublisher::new(publisher, SIZE_BYTES, None, Arc::new(Pool::new(7, SIZE_BYTES))),
        token: 7,
        spin_ns: 0,
        messages: u32::MAX / 2,
        recorder: Arc::new(Recorder::new(messages as usize, Published::default())),
        refusal: None,
        sent: 0,
        filling: Filling::default(),
        gate: Arc::default(),
    };
    let now_ns = clock::now_ns();
    sender.gate.open(Window::joined_at(now_ns, now_ns, now_ns + WINDOW_NS));
    let gate = Arc::clone(&sender.gate);
    let client = Client::Turn(Arc::clone(turn));
    let mut finished = PublisherThread::of_client(sender, client, &gate).run(now_ns).unwrap();
    let threads = asked.lock().unwrap().clone();
    (finished.remove(0).counts, threads)
}

/// A thread that answers all that it is sent, as a middleware's does.
fn answering(turn: &Arc<Turn>) -> (Channel<Header>, ThreadId) {
    let (questions, taken) = channel::<Header>();
    let turn = Arc::clone(turn);
    let thread = thread::spawn(move || taken.iter().for_each(|question| turn.answered(&question)));
    (questions, thread.thread().id())
}

#[test]
fn the_thread_that_has_the_answer_asks_next() {
    let turn = Arc::new(Turn::new());
    let (questions, answerer) = answering(&turn);
    let (counts, threads) = asked(&turn, 10_000, (0, 5_000_000_000), move |question| {
        questions.send(question).map_err(|_| PublishError::NotConnected)
    });
    assert_eq!((counts.intended, counts.sent, counts.unsent), (10_000, 10_000, 0));
    let by_answerer = threads.iter().filter(|thread| **thread == answerer).count();
    // An answer may come while its question's call has not come back; then the thread in that call asks on.
    assert!(by_answerer > 0, "the client's thread asked all");
    assert!(
        threads
            .iter()
            .all(|thread| [answerer, thread::current().id()].contains(thread))
    );
}

#[test]
fn who_delivers_within_the_publish_call_is_asked_again_after_it_and_not_within() {
    let turn = Arc::new(Turn::new());
    let own = Arc::clone(&turn);
    // So many calls within each other would need more than a stack.
    let (counts, _) = asked(&turn, 200_000, (0, 5_000_000_000), move |question| {
        own.answered(&question);
        Ok(())
    });
    assert_eq!((counts.intended, counts.sent), (200_000, 200_000));
}

#[test]
fn a_question_without_an_answer_is_waited_for_no_longer_than_the_patience() {
    let turn = Arc::new(Turn::new());
    let begin_ns = clock::now_ns();
    let (counts, threads) = asked(&turn, 3, (0, 20_000_000), |_| Ok(()));
    // Nobody waits for the last one's answer to ask again, but it is waited for.
    assert!(clock::now_ns() - begin_ns >= 3 * 20_000_000);
    assert_eq!((counts.intended, counts.sent), (3, 3));
    assert_eq!(threads, [thread::current().id(); 3]);
}

#[test]
fn an_answer_of_before_the_window_is_none_to_a_question_of_it() {
    let turn = Arc::new(Turn::new());
    let own = Arc::clone(&turn);
    let begin_ns = clock::now_ns();
    let (counts, _) = asked(&turn, 3, (0, 20_000_000), move |question| {
        own.answered(&Header {
            phase: Phase::Approach,
            ..question
        });
        Ok(())
    });
    assert!(clock::now_ns() - begin_ns >= 3 * 20_000_000);
    assert_eq!(counts.sent, 3);
}

#[test]
fn what_was_refused_is_not_waited_for() {
    let turn = Arc::new(Turn::new());
    let (counts, _) = asked(&turn, 5, (0, 3_600_000_000_000), |_| Err(PublishError::Full));
    assert_eq!((counts.intended, counts.sent, counts.refused), (5, 0, 5));
}

#[test]
fn an_interval_is_waited_for_by_the_client_s_thread() {
    const INTERVAL_NS: i64 = 1_000_000_000; // far longer than an answer takes, however busy the machine is
    let turn = Arc::new(Turn::new());
    let (questions, _) = answering(&turn);
    let begin_ns = clock::now_ns();
    let (counts, threads) = asked(&turn, 2, (INTERVAL_NS as u64, 5_000_000_000), move |question| {
        questions.send(question).map_err(|_| PublishError::NotConnected)
    });
    assert!(clock::now_ns() - begin_ns >= INTERVAL_NS);
    assert_eq!(counts.sent, 2);
    assert_eq!(threads, [thread::current().id(); 2]);
}
