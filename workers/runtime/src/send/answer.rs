//! The two sides of a ping-pong: the responder that answers each question, and the client's turn that waits for it.
//!
//! The answer is filled and sent from the thread that received the question, before that is even counted; nothing here
//! records.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Thread;

use crate::clock;
use crate::message::channel::Channel;
use crate::message::header::Header;
use crate::message::payload::Pool;
use crate::send::publish::Publisher;
use crate::send::stamping_publisher::StampingPublisher;

/// Answers each question as soon as it has come.
pub(crate) struct Answerer {
    /// Uncontended unless the middleware delivers one subscriber's messages from several threads at once.
    publisher: Mutex<StampingPublisher>,
    channel: Channel,
    token: u32,
    /// Answers that the middleware did not accept; the client sees each as a missing answer.
    refused: AtomicU64,
}

impl Answerer {
    /// `channel` is the answers' channel, at the responder's index.
    pub(crate) fn new(publisher: Publisher, channel: Channel, token: u32, pool: Arc<Pool>) -> Answerer {
        Answerer {
            publisher: Mutex::new(StampingPublisher::new(publisher, channel.size_bytes, pool)),
            channel,
            token,
            refused: AtomicU64::new(0),
        }
    }

    #[inline]
    pub(crate) fn answer(&self, question: &Header) {
        let header = Header {
            sent_ns: 0,
            intended_ns: question.sent_ns,
            sequence: question.sequence,
            token: self.token,
            channel: self.channel.number,
            publisher: self.channel.index,
            asker: question.publisher,
            phase: question.phase,
        };
        let mut publisher = self.publisher.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if publisher.send(header, self.channel.size_bytes, 0).result.is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The client's wait for the answers to its last question.
#[derive(Debug)]
pub(crate) struct Turn {
    sequence: AtomicU32,
    missing: AtomicU32,
    client: OnceLock<Thread>,
}

impl Turn {
    pub(crate) fn new() -> Turn {
        Turn {
            sequence: AtomicU32::new(u32::MAX),
            missing: AtomicU32::new(0),
            client: OnceLock::new(),
        }
    }

    /// Opens the turn of a question, on the client's own thread, before it is sent.
    pub(crate) fn open(&self, sequence: u32, answers: u32) {
        self.client.get_or_init(std::thread::current);
        self.missing.store(answers, Ordering::Release);
        self.sequence.store(sequence, Ordering::Release);
    }

    /// Notes an answer; wakes the client at the last.
    #[inline]
    pub(crate) fn answered(&self, answer: &Header) {
        if self.sequence.load(Ordering::Acquire) != answer.sequence {
            return;
        }
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(client) = self.client.get()
        {
            client.unpark();
        }
    }

    /// Waits until all answers are there (true), or `until_ns` (false).
    pub(crate) fn wait(&self, until_ns: i64, spin: bool) -> bool {
        loop {
            let missing = self.missing.load(Ordering::Acquire);
            if missing == 0 || missing > u32::MAX / 2 {
                return true; // below zero: an answer was duplicated
            }
            let left_ns = until_ns - clock::now_ns();
            if left_ns <= 0 {
                return false;
            }
            if spin {
                std::hint::spin_loop();
            } else {
                std::thread::park_timeout(std::time::Duration::from_nanos(left_ns as u64));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness;
    use crate::message::header::Phase;
    use crate::send::fake_publishers::one_of_each;

    #[test]
    fn filling_an_answer_is_no_part_of_the_round_trip_whoever_has_the_memory() {
        const SIZE_BYTES: usize = 4 << 20;
        for (kind, publisher, notes) in one_of_each() {
            let channel = Channel {
                number: 1,
                ..harness::channel(SIZE_BYTES)
            };
            let answerer = Answerer::new(publisher, channel, 7, Arc::new(Pool::new(7, SIZE_BYTES)));
            let question = Header {
                sent_ns: clock::now_ns(),
                intended_ns: 0,
                sequence: 5,
                token: 7,
                channel: 0,
                publisher: 0,
                asker: 0,
                phase: Phase::Window,
            };
            answerer.answer(&question);
            answerer.answer(&Header {
                sequence: 6,
                sent_ns: clock::now_ns(),
                ..question
            });
            let calls = notes.calls();
            assert_ne!(calls[0].body, calls[1].body, "{kind}");
            for call in calls {
                let Header {
                    sent_ns, intended_ns, ..
                } = call.header;
                // The round trip begins so much later, and ends no sooner than the answer is sent.
                assert!(
                    question.sent_ns < intended_ns && intended_ns <= sent_ns,
                    "{kind}: {call:?}"
                );
            }
        }
    }
}
