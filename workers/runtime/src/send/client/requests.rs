//! The requests of one client within the window: by a schedule (open loop), or one for each response (closed loop).
//!
//! They are sent by the client's own thread; `calls` knows which are under way, `sender` sends and records them.

use std::sync::Arc;
use std::thread;

use middlemark_contract::PaceSpec;

use crate::clock;
use crate::message::header::Phase;
use crate::send::client::calls::Calls;
use crate::send::gate::Window;
use crate::send::sender::{Done, Finished, Sender};

/// What a client of one server has left to send.
pub(crate) struct Requests {
    pub(crate) sender: Sender,
    pub(crate) calls: Arc<Calls>,
    pub(crate) window: Window,
}

impl Requests {
    /// Sends until the window has closed or the trial is given up.
    pub(crate) fn send_all(mut self, pace: PaceSpec) -> Finished {
        let done = match pace {
            PaceSpec::Open { .. } => self.by_schedule(),
            PaceSpec::Closed { .. } => self.one_for_each_response(),
        };
        self.sender.finish(&done)
    }

    /// A request's number is that of its instant, so that one who joins an open window repeats none.
    fn by_schedule(&mut self) -> Done {
        let window = self.window;
        let until_ns = window.publish_until_ns();
        let mut done = Done::none(window);
        for (sequence, due_ns) in (0..self.sender.messages).zip(self.sender.schedule(window.begin_ns)) {
            if due_ns >= window.end_ns {
                break;
            }
            if due_ns < window.joined_ns {
                continue;
            }
            if done.last_returned_ns >= until_ns {
                done.unsent += 1;
                continue;
            }
            if !self.sender.gate.rest_before(due_ns) {
                break;
            }
            clock::wait_until(due_ns, self.sender.spin_ns);
            self.send(sequence, due_ns, &mut done);
        }
        done
    }

    fn one_for_each_response(&mut self) -> Done {
        let window = self.window;
        self.calls.wake_this_thread();
        let mut done = Done::none(window);
        let mut sequence = window.first_number(self.sender.messages);
        if self.sender.gate.rest_before(window.joined_ns) {
            clock::wait_until(window.joined_ns, self.sender.spin_ns);
        }
        while sequence < self.sender.messages && !self.sender.gate.is_abandoned() {
            let now_ns = clock::now_ns();
            if now_ns >= window.end_ns {
                break;
            }
            if self.calls.has_place(now_ns) {
                self.send(sequence, now_ns, &mut done);
                sequence += 1;
            } else {
                self.calls.wait_for_place(now_ns, window.end_ns);
            }
        }
        done
    }

    #[inline]
    fn send(&mut self, sequence: u32, due_ns: i64, done: &mut Done) {
        done.tried += 1;
        let Some(place) = self.calls.open(Phase::Window, sequence, clock::now_ns()) else {
            done.last_returned_ns = self.sender.leave_out(sequence, due_ns, ALL_UNDER_WAY);
            return;
        };
        let handed = self.sender.send_when_due(sequence, due_ns);
        done.last_returned_ns = handed.returned_ns;
        if handed.result.is_err() {
            self.calls.withdraw(place);
            // The middleware's own thread that makes room may wait for this CPU.
            thread::yield_now();
        }
    }
}

const ALL_UNDER_WAY: &str = "as many requests were under way as `outstanding` allows";
