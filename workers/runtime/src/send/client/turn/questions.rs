//! The questions of one client within the window: which is next, when it is due, and asking it.
//!
//! It knows no threads: `turn` has one at a time ask.

use crate::clock;
use crate::send::client::turn::{Ask, OpenQuestion};
use crate::send::gate::Window;
use crate::send::sender::{Done, Sender};

/// What is left to ask.
pub(crate) struct Questions {
    pub(crate) sender: Sender,
    window: Window,
    interval_ns: i64,
    patience_ns: i64,
    first: u32,
    next: u32,
    /// The first number that is not asked any more.
    end: u32,
    intended_ns: i64,
    /// Until when the last question's answers are waited for.
    until_ns: i64,
    last_returned_ns: i64,
}

impl Questions {
    /// At most `messages`, no two within `interval_ns`, answers to each waited for as long as `patience_ns`.
    pub(crate) fn new(sender: Sender, window: Window, messages: u32, interval_ns: i64, patience_ns: i64) -> Questions {
        let first = window.first_number(sender.messages);
        Questions {
            window,
            interval_ns,
            patience_ns,
            first,
            next: first,
            end: first.saturating_add(messages).min(sender.messages),
            intended_ns: window.joined_ns,
            until_ns: window.joined_ns,
            last_returned_ns: window.joined_ns,
            sender,
        }
    }

    /// What was asked, once it is over.
    pub(crate) fn done(&self) -> Done {
        Done::tried(self.next - self.first, self.last_returned_ns)
    }

    /// When the next question is due, the last one being answered by now.
    fn due_ns(&self, now_ns: i64) -> i64 {
        if self.next == self.first {
            self.window.joined_ns
        } else {
            now_ns.max(self.intended_ns + self.interval_ns)
        }
    }

    fn are_over(&self, due_ns: i64) -> bool {
        self.next >= self.end || due_ns >= self.window.end_ns || self.is_given_up()
    }

    /// Whether the middleware took it.
    #[inline]
    fn ask(&mut self, open: &OpenQuestion, due_ns: i64) -> bool {
        let sequence = self.next;
        self.next += 1;
        self.intended_ns = due_ns;
        open.open(sequence, self.sender.channel.subscribers.len() as u32);
        let handed = self.sender.send_when_due(sequence, due_ns);
        self.until_ns = handed.sent_ns + self.patience_ns;
        self.last_returned_ns = handed.returned_ns;
        if handed.result.is_err() {
            open.withdraw();
        }
        handed.result.is_ok()
    }
}

impl Ask for Questions {
    #[inline]
    fn ask_at_once(&mut self, open: &OpenQuestion) -> bool {
        let now_ns = clock::now_ns();
        let due_ns = self.due_ns(now_ns);
        due_ns <= now_ns && !self.are_over(due_ns) && self.ask(open, due_ns)
    }

    fn ask_when_due(&mut self, open: &OpenQuestion) -> bool {
        let due_ns = self.due_ns(clock::now_ns());
        if self.are_over(due_ns) || !self.sender.gate.rest_before(due_ns) {
            return false;
        }
        clock::wait_until(due_ns, self.sender.spin_ns);
        self.ask(open, due_ns);
        true
    }

    fn patience_left_ns(&self) -> i64 {
        self.until_ns - clock::now_ns()
    }

    fn is_given_up(&self) -> bool {
        self.sender.gate.is_abandoned()
    }
}
