//! One publisher: how it sends a greeting and a message.
//!
//! Each message is filled at its instant, stamped when it is full, and recorded after the publish call has come back. When
//! it is sent is decided by the thread that owns it (`publisher_thread`): nothing here is shared while messages go out.

use std::sync::Arc;

use middlemark_contract::{PatternSpec, Published, PublisherCounts};

use crate::clock;
use crate::message::channel::Channel;
use crate::message::header::{Header, Phase};
use crate::recorder::Recorder;
use crate::send::gate::{Window, WindowGate};
use crate::send::publish::PublishError;
use crate::send::schedule::Schedule;
use crate::send::stamping_publisher::{Handed, StampingPublisher};

/// What became of a window's messages, beside what the sender counts as accepted.
pub(crate) struct Done {
    /// Handed to the middleware, accepted or not.
    pub(crate) tried: u32,
    /// Given up, as the time for them was over.
    pub(crate) unsent: u32,
    /// When the last publish call of the window returned.
    pub(crate) last_returned_ns: i64,
}

impl Done {
    pub(crate) fn tried(tried: u32, last_returned_ns: i64) -> Done {
        Done {
            tried,
            unsent: 0,
            last_returned_ns,
        }
    }

    pub(crate) fn none(window: Window) -> Done {
        Done::tried(0, window.joined_ns)
    }
}

/// What a publisher leaves when it is done with the window.
pub(crate) struct Finished {
    pub(crate) counts: PublisherCounts,
    /// Of a client of a server: what it sent its requests with, as the responses to the last of them are still to come.
    pub(crate) client: Option<StampingPublisher>,
}

/// One publisher.
pub(crate) struct Sender {
    pub(crate) stream: String,
    pub(crate) pattern: PatternSpec,
    pub(crate) channel: Channel,
    pub(crate) publisher: StampingPublisher,
    pub(crate) token: u32,
    pub(crate) spin_ns: i64,
    /// The most messages of the window.
    pub(crate) messages: u32,
    pub(crate) recorder: Arc<Recorder<Published>>,
    pub(crate) refusal: Option<String>,
    pub(crate) sent: u32,
    pub(crate) filling: Filling,
    pub(crate) gate: Arc<WindowGate>,
}

/// What filling has delayed so far.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Filling {
    /// By how much it had delayed the last message.
    fill_ns: i64,
    /// When the last publish call came back.
    returned_ns: i64,
}

impl Filling {
    /// By how much it delays a message that is due at an instant, before that is filled itself: no longer than the
    /// message waited for the one before it.
    fn delays_ns(&self, intended_ns: i64) -> i64 {
        self.fill_ns.min(self.returned_ns - intended_ns).max(0)
    }
}

impl Sender {
    /// Ends it, with what it did within the window.
    pub(crate) fn finish(self, done: &Done) -> Finished {
        let is_client = matches!(self.pattern, PatternSpec::RequestResponse { .. });
        let counts = PublisherCounts {
            stream: self.stream,
            publisher: self.channel.index,
            intended: done.tried + done.unsent,
            sent: self.sent,
            refused: done.tried - self.sent,
            unsent: done.unsent,
            refusal: self.refusal,
            last_returned_ns: done.last_returned_ns as u64,
        };
        Finished {
            counts,
            client: is_client.then_some(self.publisher),
        }
    }

    /// Whether its messages are due at instants of their own.
    pub(crate) fn has_schedule(&self) -> bool {
        matches!(self.pattern, PatternSpec::Periodic { .. } | PatternSpec::Burst { .. })
    }

    /// Sends the header alone.
    pub(crate) fn greet(&mut self, sequence: u32, due_ns: i64) {
        self.hand_over_alone(sequence, due_ns, 0, Phase::Greeting);
    }

    /// When its messages are due from a beginning on.
    pub(crate) fn schedule(&self, begin_ns: i64) -> Schedule {
        match &self.channel.recorded {
            Some(recorded) => Schedule::recorded(recorded.clone(), begin_ns),
            None => Schedule::new(self.pattern, self.channel.index, begin_ns),
        }
    }

    /// Sends a message of before the window.
    pub(crate) fn warm_up(&mut self, sequence: u32, intended_ns: i64) -> Handed {
        let delayed_ns = self.filling.delays_ns(intended_ns);
        self.hand_over_alone(sequence, intended_ns, delayed_ns, Phase::Approach)
    }

    #[inline]
    pub(crate) fn send_when_due(&mut self, sequence: u32, intended_ns: i64) -> Handed {
        let delayed_ns = self.filling.delays_ns(intended_ns);
        self.send(sequence, intended_ns, delayed_ns)
    }

    /// Sends a message of the window, which filling others has already delayed by `delayed_ns`.
    #[inline]
    pub(crate) fn send(&mut self, sequence: u32, intended_ns: i64, delayed_ns: i64) -> Handed {
        let handed = self.hand_over(sequence, intended_ns, delayed_ns, Phase::Window);
        match handed.result {
            Ok(()) => self.sent += 1,
            Err(error) => {
                self.refusal.get_or_insert_with(|| error.to_string());
            }
        }
        self.record(sequence, intended_ns, &handed);
        handed
    }

    /// Refuses a message of the window in place of the middleware, for this reason; returns when.
    #[cold]
    pub(crate) fn leave_out(&mut self, sequence: u32, intended_ns: i64, reason: &str) -> i64 {
        self.refusal.get_or_insert_with(|| reason.to_owned());
        let now_ns = clock::now_ns();
        let left_out = Handed {
            sent_ns: now_ns,
            returned_ns: now_ns,
            fill_ns: 0,
            serialise_ns: 0,
            result: Err(PublishError::Full),
        };
        self.record(sequence, intended_ns, &left_out);
        now_ns
    }

    #[inline]
    fn record(&self, sequence: u32, intended_ns: i64, handed: &Handed) {
        self.recorder.record(Published {
            stream: self.channel.number / 2,
            publisher: self.channel.index,
            sequence,
            intended_ns,
            sent_ns: handed.sent_ns,
            returned_ns: handed.returned_ns,
            fill_ns: handed.fill_ns,
            serialise_ns: handed.serialise_ns,
            accepted: u8::from(handed.result.is_ok()),
        });
    }

    /// Sends a message that none follows at once.
    fn hand_over_alone(&mut self, sequence: u32, intended_ns: i64, delayed_ns: i64, phase: Phase) -> Handed {
        let handed = self.hand_over(sequence, intended_ns, delayed_ns, phase);
        self.publisher.flush();
        handed
    }

    /// Sends a message; one of before the window counts for nothing.
    #[inline]
    pub(crate) fn hand_over(&mut self, sequence: u32, intended_ns: i64, delayed_ns: i64, phase: Phase) -> Handed {
        let header = Header {
            sent_ns: 0,
            intended_ns,
            sequence,
            token: self.token,
            channel: self.channel.number,
            publisher: self.channel.index,
            asker: 0,
            phase,
        };
        let size_bytes = self.channel.message_bytes(phase, sequence);
        let handed = self.publisher.send(header, size_bytes, delayed_ns);
        self.filling = Filling {
            fill_ns: handed.fill_ns,
            returned_ns: handed.returned_ns,
        };
        handed
    }
}

#[cfg(test)]
mod tests;
