//! Who answers: the responder of a ping-pong, or the server of a request; `client` has who asks.
//!
//! The answer is filled and sent from the thread that received the question, before that is even counted; nothing here
//! records.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::message::channel::Channel;
use crate::message::header::{Header, Phase};
use crate::message::payload::Pool;
use crate::message::typed::Form;
use crate::node::compute::Computation;
use crate::send::publish::{Publisher, PublisherMut};
use crate::send::stamping_publisher::Stamper;

/// Answers each question as soon as it has come and the computation for it is over.
pub(crate) struct Answerer {
    /// Uncontended unless the middleware delivers one subscriber's messages from several threads at once.
    means: Mutex<Means>,
    channel: Channel,
    token: u32,
    /// Answers that the middleware did not accept; the client sees each as a missing answer.
    refused: AtomicU64,
    /// Whether it answers no more, as its session is being closed.
    has_ended: AtomicBool,
}

/// What it answers with.
struct Means {
    /// Of a ping-pong's responder, whose answers are messages of a topic; none of a server, whose requests bring their reply.
    publisher: Option<Publisher>,
    stamper: Stamper,
    /// Of a server.
    computation: Option<Box<Computation>>,
}

impl Answerer {
    /// A ping-pong's; `channel` is the answers' channel, at the responder's index, `form` theirs where they are typed.
    pub(crate) fn responder(
        publisher: Publisher,
        channel: Channel,
        form: Option<Form>,
        token: u32,
        pool: Arc<Pool>,
    ) -> Answerer {
        let stamper = Stamper::of(&publisher, channel.size_bytes, form, pool);
        Answerer::new(Some(publisher), stamper, None, channel, token)
    }

    /// A server; `channel` is the responses', at its index.
    pub(crate) fn server(
        computation: Computation,
        channel: Channel,
        form: Option<Form>,
        token: u32,
        pool: Arc<Pool>,
    ) -> Answerer {
        // How the middleware sends responses is known only with the first request.
        let stamper = Stamper::new(channel.size_bytes, form, pool);
        Answerer::new(None, stamper, Some(Box::new(computation)), channel, token)
    }

    fn new(
        publisher: Option<Publisher>,
        stamper: Stamper,
        computation: Option<Box<Computation>>,
        channel: Channel,
        token: u32,
    ) -> Answerer {
        Answerer {
            means: Mutex::new(Means {
                publisher,
                stamper,
                computation,
            }),
            channel,
            token,
            refused: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Answers no more, however many questions still wait: closing would take as long as they all.
    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    /// Answers a question: by the `reply` that came with a request, or else by its own publisher.
    #[inline]
    pub(crate) fn answer(&self, question: &Header, reply: Option<PublisherMut<'_>>) {
        if self.has_ended.load(Ordering::Relaxed) {
            return;
        }
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
        let mut held = self.means.lock().unwrap_or_else(PoisonError::into_inner);
        let means = &mut *held;
        let computation = means.computation.as_mut();
        if let Some(computation) = computation.filter(|_| question.phase != Phase::Greeting) {
            computation.run();
        }
        let handed = match (reply, &mut means.publisher) {
            (Some(reply), _) => means.stamper.send(reply, header, size_bytes, 0),
            (None, Some(publisher)) => means.stamper.send(publisher.as_mut(), header, size_bytes, 0),
            (None, None) => return, // a server is called with a reply
        };
        if handed.result.is_err() {
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
            let answerer = Answerer::responder(publisher, channel, None, 7, Arc::new(Pool::new(7, SIZE_BYTES)));
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
            answerer.answer(&question, None);
            answerer.answer(
                &Header {
                    sequence: 6,
                    sent_ns: clock::now_ns(),
                    ..question
                },
                None,
            );
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
