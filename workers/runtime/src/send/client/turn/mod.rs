//! The client's turns of a ping-pong: a question, its answers, and the next question from the thread that had the last one.
//!
//! So no thread is woken for a round trip but those that its messages wake, as in a tool with one thread. `questions` says
//! what is asked and when; `models` tries all orders in which threads can hand the asking over.

#[cfg(all(test, feature = "loom"))]
mod models;
mod questions;

pub(crate) use questions::Questions;

use std::sync::{OnceLock, PoisonError};

use crate::message::header::{Header, Phase};
use crate::recorder::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Release, SeqCst},
    fence,
};
use crate::recorder::sync::{Mutex, MutexGuard, Thread, current_thread, park_for};

/// How often the client's thread looks whether the trial is given up.
const WATCH_NS: i64 = 100_000_000;

/// Where the number of the open question begins.
const SEQUENCE_SHIFT: u32 = 32;

/// The number of the last question, and below it how many of its answers are missing: one word, so that an answer which
/// comes late is taken for none to the next question.
#[derive(Debug)]
pub(crate) struct OpenQuestion(AtomicU64);

impl OpenQuestion {
    fn none() -> OpenQuestion {
        OpenQuestion(AtomicU64::new(0))
    }

    /// To be called before the question is sent.
    #[inline]
    fn open(&self, sequence: u32, answers: u32) {
        let open = u64::from(sequence) << SEQUENCE_SHIFT | u64::from(answers);
        self.0.swap(open, Release);
    }

    /// The question was refused: nobody answers it.
    fn withdraw(&self) {
        self.0.store(0, Release);
    }

    /// Notes an answer to the question of this number; true where it was the last.
    #[inline]
    fn answer(&self, sequence: u32) -> bool {
        let is_of = |open: u64| open as u32 > 0 && open >> SEQUENCE_SHIFT == u64::from(sequence);
        let noted = self
            .0
            .fetch_update(AcqRel, Acquire, |open| is_of(open).then(|| open - 1));
        noted.is_ok_and(|open| open as u32 == 1)
    }

    /// Whether no answer to the last question is missing.
    #[inline]
    fn is_answered(&self) -> bool {
        self.0.load(Acquire) as u32 == 0
    }
}

/// What is left to ask.
pub(crate) trait Ask {
    /// Asks where a question is due at once; false where the client's thread is to see to it.
    fn ask_at_once(&mut self, open: &OpenQuestion) -> bool;

    /// Waits for the next question's instant and asks; false where there is none.
    fn ask_when_due(&mut self, open: &OpenQuestion) -> bool;

    /// For how long the last question's answers are still waited for.
    fn patience_left_ns(&self) -> i64;

    fn is_given_up(&self) -> bool;
}

/// The turn of one client: which question is open, and who asks next.
pub(crate) struct Turn<Q = Questions> {
    open: OpenQuestion,
    client: OnceLock<Thread>,
    /// Within the window. Uncontended, unless an answer is there before its question's publish call has come back.
    questions: Mutex<Option<Q>>,
}

impl<Q: Ask> Turn<Q> {
    pub(crate) fn new() -> Turn<Q> {
        Turn {
            open: OpenQuestion::none(),
            client: OnceLock::new(),
            questions: Mutex::new(None),
        }
    }

    /// Asks all questions, on the client's own thread, and gives back what is left of them when they are over. This thread
    /// asks where an answer is missing, a question was refused or an interval is to be waited for.
    pub(crate) fn ask_all(&self, questions: Q) -> Q {
        self.client.get_or_init(current_thread);
        *self.lock() = Some(questions);
        loop {
            let mut held = self.lock();
            let questions = held.as_mut().expect("only this thread takes them");
            let left_ns = questions.patience_left_ns();
            let goes_on = if self.open.is_answered() || left_ns <= 0 {
                questions.ask_when_due(&self.open)
            } else {
                !questions.is_given_up()
            };
            if !goes_on {
                return held.take().expect("they were there");
            }
            drop(held);
            // An answer that came while this thread held the questions has woken nobody.
            fence(SeqCst);
            if !self.open.is_answered() {
                park_for(left_ns.clamp(0, WATCH_NS));
            }
        }
    }

    /// Takes the questions and asks the first, on a thread that does not wait for the others.
    #[cfg(any(test, feature = "harness"))]
    pub(crate) fn begin(&self, questions: Q) {
        *self.lock() = Some(questions);
        self.go_on();
    }

    /// Notes an answer; at the last of a question of the window the next one is asked.
    #[inline]
    pub(crate) fn answered(&self, answer: &Header) {
        if answer.phase == Phase::Window && self.open.answer(answer.sequence) {
            self.go_on();
        }
    }

    /// Asks on, unless someone is asking by now, who then looks for this answer: the same thread even, where a middleware
    /// delivers within the publish call, so that calls are never within each other.
    #[inline]
    fn go_on(&self) {
        loop {
            // Pairs with those who let go of the questions and then look for an answer.
            fence(SeqCst);
            if !self.open.is_answered() {
                return;
            }
            let Ok(mut held) = self.questions.try_lock() else {
                return;
            };
            let Some(questions) = held.as_mut() else { return };
            // Before this thread had them, another may have asked.
            if self.open.is_answered() && !questions.ask_at_once(&self.open) {
                drop(held);
                if let Some(client) = self.client.get() {
                    client.unpark();
                }
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Q>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests;
