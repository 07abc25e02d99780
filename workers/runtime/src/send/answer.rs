//! The responder of a ping-pong, which answers each question; `turn` is the client.
//!
//! The answer is filled and sent from the thread that received the question, before that is even counted; nothing here
//! records.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

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
        let size_bytes = self.channel.message_bytes(question.phase, question.sequence);
        let mut publisher = self.publisher.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if publisher.send(header, size_bytes, 0).result.is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
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
