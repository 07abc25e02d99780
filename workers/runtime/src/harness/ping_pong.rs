//! Both ends of a ping-pong with nothing but a piece of memory between them: what the runtime itself takes of a round trip.
//!
//! Neither end waits or is woken, as one thread does both in turn.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::sync::Arc;

use crate::clock;
use crate::harness::{TOKEN, channel, sender};
use crate::message::channel::Channel;
use crate::message::payload::Pool;
use crate::receive::receiver::Receiver;
use crate::receive::receiver::state::{Part, ReceiverState};
use crate::send::answer::Answerer;
use crate::send::client::Client;
use crate::send::client::turn::{Questions, Turn};
use crate::send::gate::Window;
use crate::send::publish::{PublishError, PublishInPlace, Publisher};

/// Two ends, reserved and ready; the first question has been asked.
pub struct PingPong {
    /// Answers each question before it is counted.
    responder: Receiver,
    /// Asks the next question before it counts the answer.
    client: Receiver,
    question: Place,
    answer: Place,
}

impl PingPong {
    /// Ends with memory for so many round trips.
    #[must_use]
    pub fn new(size_bytes: usize, messages: u32) -> PingPong {
        let (question, answer) = (Place::new(size_bytes), Place::new(size_bytes));
        let of_answers = Channel {
            number: 1,
            ..channel(size_bytes)
        };
        let pool = Arc::new(Pool::new(TOKEN, size_bytes));
        let answerer = Answerer::responder(answer.publisher(), of_answers.clone(), None, TOKEN, pool);
        let turn = Arc::new(Turn::new());
        let receiver = |channel, part| {
            let state = ReceiverState::new(channel, TOKEN, messages, messages as usize);
            Receiver::new(Arc::new(ReceiverState { part, ..state }))
        };
        let responder = receiver(channel(size_bytes), Part::Responder(answerer));
        let client = receiver(of_answers, Part::Client(Client::Turn(Arc::clone(&turn))));
        let now_ns = clock::now_ns();
        let window = Window::joined_at(now_ns, now_ns, i64::MAX);
        let asking = sender(question.publisher(), size_bytes, None, messages);
        turn.begin(Questions::new(asking, window, messages, 0, i64::from(u32::MAX)));
        PingPong {
            responder,
            client,
            question,
            answer,
        }
    }

    /// Has the question taken and answered, the answer taken, and the next question asked.
    #[inline]
    pub fn round_trip(&mut self) {
        self.responder.receive(black_box(self.question.message()));
        self.client.receive(black_box(self.answer.message()));
    }
}

/// Where a message lies between the two ends; for ever, as what measures ends soon.
#[derive(Clone, Copy)]
struct Place(*mut [MaybeUninit<u8>]);

// SAFETY: both ends are one thread's, as `PingPong` has them both and is lent as a whole.
unsafe impl Send for Place {}

impl Place {
    fn new(size_bytes: usize) -> Place {
        Place(Box::leak(Box::new_uninit_slice(size_bytes)))
    }

    fn publisher(self) -> Publisher {
        Publisher::InPlace(Box::new(self))
    }

    /// The message that was published last.
    #[inline]
    fn message(&self) -> &[u8] {
        // SAFETY: it is never freed, has been written by now, and is not written again while it is read.
        unsafe { std::slice::from_raw_parts(self.0.cast(), self.0.len()) }
    }
}

impl PublishInPlace for Place {
    #[inline]
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        // SAFETY: it is never freed, and who reads now reads the other end's place.
        let memory = unsafe { &mut *self.0 };
        write(&mut memory[..size_bytes]);
        Ok(())
    }
}
