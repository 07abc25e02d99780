//! The life of a thread that publishes: greetings from T0 on, the approach, the measured window, then nothing more.
//!
//! It has one publisher, or several whose messages it sends in the order in which they are due; `sender` sends them. One
//! without a schedule has a thread to itself, and `self_paced` says how it goes on.

mod division;
pub(crate) mod self_paced;

use std::sync::Arc;

use crate::clock;
use crate::message::header::Phase;
use crate::send::client::Client;
use crate::send::gate::{Approach, Window, WindowGate};
use crate::send::schedule::{Due, Schedules};
use crate::send::sender::{Done, Filling, Finished, Sender};

pub(crate) use division::Division;

/// The publishers of one thread.
pub(crate) struct PublisherThread {
    pub(crate) senders: Vec<Sender>,
    /// Where the messages of a single one are answered.
    client: Option<Client>,
    gate: Arc<WindowGate>,
    /// By how much filling one's message delays the next, whosever that is.
    filling: Filling,
}

impl PublisherThread {
    /// A thread of publishers that all have a schedule, or of a single one.
    pub(crate) fn of(senders: Vec<Sender>, gate: &Arc<WindowGate>) -> PublisherThread {
        PublisherThread {
            senders,
            client: None,
            gate: Arc::clone(gate),
            filling: Filling::default(),
        }
    }

    /// The thread of a client, which has it to itself.
    pub(crate) fn of_client(sender: Sender, client: Client, gate: &Arc<WindowGate>) -> PublisherThread {
        PublisherThread {
            client: Some(client),
            ..PublisherThread::of(vec![sender], gate)
        }
    }

    /// How many publishers it serves.
    pub(crate) fn publishers(&self) -> usize {
        self.senders.len()
    }

    /// Publishes from `start_ns` on until the window has closed or the trial is given up; none where no window came.
    pub(crate) fn run(mut self, start_ns: i64) -> Option<Vec<Finished>> {
        let gate = Arc::clone(&self.gate);
        let greet_all = |sequence, due_ns| {
            let first = first_of(sequence, self.senders.len());
            let (later, sooner) = self.senders.split_at_mut(first);
            sooner
                .iter_mut()
                .chain(later)
                .for_each(|sender| sender.greet(sequence, due_ns));
        };
        let approach_ns = gate.greet(start_ns, greet_all)?;
        let window = self.approach(approach_ns)?;
        if self.senders.iter().any(|sender| !sender.has_schedule()) {
            return Some(
                self.senders
                    .into_iter()
                    .map(|sender| self_paced::publish(sender, self.client.clone(), window))
                    .collect(),
            );
        }
        let done = self.follow_schedule(window);
        let finished = self
            .senders
            .into_iter()
            .zip(&done)
            .map(|(sender, done)| sender.finish(done));
        Some(finished.collect())
    }

    fn schedules(&self, begin_ns: i64, most: impl Fn(&Sender) -> u32) -> Schedules {
        let schedules = self
            .senders
            .iter()
            .map(|sender| (sender.schedule(begin_ns), most(sender)));
        Schedules::of(schedules)
    }

    fn approach(&mut self, begin_ns: i64) -> Option<Window> {
        for due in self.schedules(begin_ns, |_| u32::MAX) {
            // Who is behind when the window opens would else spend it on what lies before it.
            if self
                .gate
                .window()
                .is_some_and(|window| window.is_behind(due.intended_ns))
            {
                continue;
            }
            match self.gate.approach(due.intended_ns) {
                Approach::Due => self.warm_up(due),
                Approach::Opens(window) => return Some(window),
                Approach::Abandoned => return None,
            }
        }
        None
    }

    /// Sends a message of before the window; a request only where fewer are under way than there may be.
    fn warm_up(&mut self, due: Due) {
        let send = |sender: &mut Sender| sender.warm_up(due.sequence, due.intended_ns);
        let Some(Client::Calls(calls)) = self.client.clone() else {
            self.serve(due, send);
            return;
        };
        if let Some(place) = calls.open(Phase::Approach, due.sequence, clock::now_ns())
            && self.serve(due, send).result.is_err()
        {
            calls.withdraw(place);
        }
    }

    /// A message's number is that of its instant, so that one who joins an open window repeats none. An overload is told
    /// and not waited for: what the schedules still hold when their time is over is only counted.
    pub(crate) fn follow_schedule(&mut self, window: Window) -> Vec<Done> {
        let until_ns = window.publish_until_ns();
        let mut done: Vec<_> = self.senders.iter().map(|_| Done::none(window)).collect();
        let mut returned_ns = window.joined_ns;
        for due in self.schedules(window.begin_ns, |sender| sender.messages) {
            if due.intended_ns >= window.end_ns {
                break;
            }
            if due.intended_ns < window.joined_ns {
                continue;
            }
            let done = &mut done[due.publisher];
            if returned_ns >= until_ns {
                done.unsent += 1;
                continue;
            }
            if !self.gate.rest_before(due.intended_ns) {
                break;
            }
            clock::wait_until(due.intended_ns, self.senders[due.publisher].spin_ns);
            returned_ns = self.serve(due, |sender| {
                sender.send_when_due(due.sequence, due.intended_ns).returned_ns
            });
            done.last_returned_ns = returned_ns;
            done.tried += 1;
        }
        done
    }

    /// Has a publisher send, delayed by what filling the message before it took, whosever that was.
    #[inline]
    fn serve<T>(&mut self, due: Due, send: impl FnOnce(&mut Sender) -> T) -> T {
        let sender = &mut self.senders[due.publisher];
        sender.filling = self.filling;
        let result = send(sender);
        self.filling = sender.filling;
        result
    }
}

/// Which of so many publishers greets first in a round. Where a middleware takes a few messages at once and refuses the
/// others, each publisher is to be among those soon: the firsts of successive rounds lie apart by the golden ratio, which
/// spreads any number of them evenly (Knuth, "The Art of Computer Programming" 3, §6.4, Fibonacci hashing).
fn first_of(round: u32, publishers: usize) -> usize {
    const GOLDEN: u32 = 2_654_435_769;
    ((u64::from(round.wrapping_mul(GOLDEN)) * publishers as u64) >> u32::BITS) as usize
}

#[cfg(test)]
mod tests;
