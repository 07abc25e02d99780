//! The handing-over of a ping-pong's questions under every order in which threads can run, as a weakly ordered processor
//! may run them too.
//!
//! Run by `make test-rust` with the feature `loom`; each question is answered by a thread of its own, beside the client's.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::thread;

use super::*;

/// Two hand-overs, and the end.
const QUESTIONS: u32 = 2;

/// Tries all orders in which a thread is interrupted at most this often at any point, as in `flow`.
const INTERRUPTIONS: usize = 3;

/// Who answers a question: a thread of the middleware, or the publish call itself.
type Answer = fn(&Quiz, u32);

/// Questions that are always due.
struct Quiz {
    turn: Arc<Turn<Quiz>>,
    answer: Answer,
    /// Publish and receive calls that have come back. Both count here, so that loom tries either before the other; what
    /// lies between a lock and its end alone it would not interrupt.
    returned: Arc<AtomicU32>,
    asked: u32,
    /// The number of the question from which on only the client's own thread may ask.
    at_once_until: u32,
}

impl Ask for Quiz {
    fn ask_at_once(&mut self, open: &OpenQuestion) -> bool {
        self.asked < self.at_once_until && self.ask_when_due(open)
    }

    fn ask_when_due(&mut self, open: &OpenQuestion) -> bool {
        if self.asked == QUESTIONS {
            return false;
        }
        assert!(open.is_answered(), "two questions are open");
        let sequence = self.asked;
        self.asked += 1;
        open.open(sequence, 1);
        (self.answer)(self, sequence);
        self.returned.fetch_add(1, Relaxed);
        true
    }

    fn patience_left_ns(&self) -> i64 {
        i64::MAX
    }

    fn is_given_up(&self) -> bool {
        false
    }
}

fn receive(turn: &Turn<Quiz>, returned: &AtomicU32, sequence: u32) {
    if turn.open.answer(sequence) {
        turn.go_on();
    }
    returned.fetch_add(1, Relaxed);
}

fn by_another_thread(quiz: &Quiz, sequence: u32) {
    let (turn, returned) = (Arc::clone(&quiz.turn), Arc::clone(&quiz.returned));
    thread::spawn(move || receive(&turn, &returned, sequence));
}

fn within_the_call(quiz: &Quiz, sequence: u32) {
    receive(&quiz.turn, &quiz.returned, sequence);
}

fn model(run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(INTERRUPTIONS);
    builder.check(run);
}

/// A lost answer would leave the client waiting for ever, which loom reports as a deadlock.
fn all_are_asked(answer: Answer, at_once_until: u32) {
    model(move || {
        let turn = Arc::new(Turn::new());
        let quiz = Quiz {
            turn: Arc::clone(&turn),
            answer,
            returned: Arc::new(AtomicU32::new(0)),
            asked: 0,
            at_once_until,
        };
        assert_eq!(turn.ask_all(quiz).asked, QUESTIONS);
    });
}

#[test]
fn no_answer_is_lost_where_the_thread_that_has_it_asks_on() {
    all_are_asked(by_another_thread, QUESTIONS);
}

#[test]
fn no_answer_is_lost_where_the_client_has_to_ask() {
    all_are_asked(by_another_thread, 0);
}

#[test]
fn no_answer_is_lost_that_comes_within_the_publish_call() {
    all_are_asked(within_the_call, QUESTIONS);
}

#[test]
fn a_late_answer_is_none_to_the_next_question() {
    model(|| {
        let open = Arc::new(OpenQuestion::none());
        open.open(0, 1);
        let late = thread::spawn({
            let open = Arc::clone(&open);
            move || open.answer(0)
        });
        open.open(1, 1); // the first was given up
        late.join().unwrap();
        assert!(!open.is_answered());
        assert!(open.answer(1));
    });
}
