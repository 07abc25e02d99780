//! One stream that a node sends: numbers its messages, before the window and within, and hands them over.
//!
//! Filling, stamping and recording a message is the `sender`'s, which has no schedule here: the node says when.

use middlemark_contract::PublisherCounts;

use crate::message::header::Phase;
use crate::node::journal::Accepted;
use crate::send::gate::Window;
use crate::send::sender::{Done, Sender};

const TOO_MANY: &str = "more messages than were reserved for the window";

/// A publisher without a schedule of its own.
pub(crate) struct OutputSender {
    sender: Sender,
    /// The number of the next message before the window.
    approach: u32,
    /// The number of the next message of the window, once there was one.
    next: Option<u32>,
    /// Messages of the window, one way or the other.
    intended: u32,
    last_returned_ns: i64,
}

impl OutputSender {
    pub(crate) fn new(sender: Sender) -> OutputSender {
        OutputSender {
            sender,
            approach: 0,
            next: None,
            intended: 0,
            last_returned_ns: 0,
        }
    }

    pub(crate) fn greet(&mut self, sequence: u32, due_ns: i64) {
        self.sender.greet(sequence, due_ns);
    }

    /// Sends a message; none where it was not accepted. `filled_ns` is what filling has taken so far of this execution.
    pub(crate) fn send(&mut self, window: Option<Window>, intended_ns: i64, filled_ns: &mut i64) -> Option<Accepted> {
        let sequence = self.number(window);
        if window.is_none() {
            self.approach = self.approach.wrapping_add(1);
            let handed = self
                .sender
                .hand_over(sequence, intended_ns, *filled_ns, Phase::Approach);
            *filled_ns = handed.fill_ns;
            return None;
        }
        self.intended += 1;
        if sequence >= self.sender.messages {
            // Nobody has reserved memory to account for it.
            self.sender.refusal.get_or_insert_with(|| TOO_MANY.into());
            return None;
        }
        self.next = Some(sequence + 1);
        let handed = self.sender.send(sequence, intended_ns, *filled_ns);
        *filled_ns = handed.fill_ns;
        self.last_returned_ns = handed.returned_ns;
        handed.result.is_ok().then_some(Accepted {
            stream: self.sender.channel.number / 2,
            sequence,
            sent_ns: handed.sent_ns,
            fill_ns: handed.fill_ns,
        })
    }

    /// What it did within the window.
    pub(crate) fn counts(self, window: Window) -> PublisherCounts {
        let last_returned_ns = self.last_returned_ns.max(window.joined_ns);
        self.sender.finish(&Done::tried(self.intended, last_returned_ns)).counts
    }

    fn number(&self, window: Option<Window>) -> u32 {
        window.map_or(self.approach, |window| {
            self.next.unwrap_or_else(|| window.first_number(self.sender.messages))
        })
    }
}
