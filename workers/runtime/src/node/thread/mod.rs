//! The life of one node's thread: it waits for its trigger, takes what its inputs have, computes, and sends.
//!
//! Every node has a thread of its own, so that none waits for another's computation and the CPU time that is spent is
//! its own; what nodes of one application share is the process. `input_queue` brings its messages, `compute` spends,
//! `output_sender` sends, `journal` notes.

use std::sync::Arc;

use middlemark_contract::{NodeSpec, Readiness, TriggerSpec};

use crate::clock;
use crate::node::compute::Computation;
use crate::node::input_queue::{Arrived, Bell, InputReader};
use crate::node::journal::{Accepted, Journal, Span};
use crate::node::output_sender::OutputSender;
use crate::process::inbox::{Note, Notes};
use crate::send::gate::{Approach, Window, WindowGate};
use crate::send::schedule::Schedule;

/// One node, with its ends of all streams.
pub(crate) struct Node {
    pub(crate) trigger: TriggerSpec,
    pub(crate) inputs: Vec<InputReader>,
    pub(crate) computation: Computation,
    pub(crate) outputs: Vec<OutputSender>,
    pub(crate) bell: Arc<Bell>,
    pub(crate) gate: Arc<WindowGate>,
    pub(crate) spin_ns: i64,
    pub(crate) journal: Journal,
    pub(crate) taken: Taken,
}

/// What the next execution has taken, in memory for the most that there can be.
pub(crate) struct Taken {
    messages: Vec<Arrived>,
    /// By input, while not every one has something yet.
    held: Vec<Option<Arrived>>,
    sent: Vec<Accepted>,
}

impl Taken {
    pub(crate) fn new(spec: &NodeSpec, inputs: &[InputReader]) -> Taken {
        Taken {
            messages: Vec::with_capacity(inputs.iter().map(InputReader::capacity).sum()),
            held: vec![None; inputs.len()],
            sent: Vec::with_capacity(spec.outputs.len()),
        }
    }
}

impl Node {
    /// Runs from `start_ns` on until the window has closed or the trial is given up.
    pub(crate) fn run(mut self, start_ns: i64, notes: &Notes) -> Journal {
        self.bell.wake_this_thread();
        let window = self.greet(start_ns).and_then(|begin_ns| match self.trigger {
            TriggerSpec::Source { rate_hz } => self.run_by_schedule(rate_hz, begin_ns, false),
            TriggerSpec::Timer { rate_hz } => self.run_by_schedule(rate_hz, begin_ns, true),
            TriggerSpec::Unthrottled { approach_hz } => self.run_unthrottled(approach_hz, begin_ns),
            TriggerSpec::Message { when } => self.run_on_messages(when),
        });
        self.inputs.iter().for_each(InputReader::close);
        self.journal.close(&self.inputs);
        for output in self.outputs {
            let _ = notes.send(Note::Finished(window.map(|window| output.counts(window))));
        }
        self.journal
    }

    /// Sends greetings on all outputs, without running; tells when they were over.
    fn greet(&mut self, start_ns: i64) -> Option<i64> {
        let gate = Arc::clone(&self.gate);
        gate.greet(start_ns, |sequence, due_ns| {
            self.outputs
                .iter_mut()
                .for_each(|output| output.greet(sequence, due_ns));
        })
    }

    /// Runs by an absolute schedule.
    fn run_by_schedule(&mut self, rate_hz: f64, begin_ns: i64, skips: bool) -> Option<Window> {
        let window = self.approach(rate_hz, begin_ns)?;
        let period_ns = (1e9 / rate_hz) as i64;
        for due_ns in Schedule::every(rate_hz, window.begin_ns).skip_while(|due_ns| *due_ns < window.joined_ns) {
            // A source that can't keep its rate is not waited for: what begins after the window counts for nothing.
            if due_ns >= window.end_ns || (!skips && clock::now_ns() >= window.end_ns) {
                break;
            }
            if skips && clock::now_ns() >= due_ns + period_ns {
                self.journal.skipped();
                continue;
            }
            if !self.gate.rest_before(due_ns) {
                break;
            }
            clock::wait_until(due_ns, self.spin_ns);
            self.take_what_waits();
            self.execute(Some(due_ns));
        }
        Some(window)
    }

    /// Runs again as soon as it is done.
    fn run_unthrottled(&mut self, approach_hz: f64, begin_ns: i64) -> Option<Window> {
        let window = self.approach(approach_hz, begin_ns)?;
        if self.gate.rest_before(window.joined_ns) {
            clock::wait_until(window.joined_ns, self.spin_ns);
        }
        while clock::now_ns() < window.end_ns && !self.gate.is_abandoned() {
            self.execute(None);
        }
        Some(window)
    }

    /// Runs before the window opens; one that can't keep its rate leaves out what has passed.
    fn approach(&mut self, rate_hz: f64, begin_ns: i64) -> Option<Window> {
        let period_ns = (1e9 / rate_hz) as i64;
        for due_ns in Schedule::every(rate_hz, begin_ns) {
            match self.gate.approach(due_ns) {
                Approach::Due if clock::now_ns() >= due_ns + period_ns => {}
                Approach::Due => {
                    self.take_what_waits();
                    self.execute(Some(due_ns));
                }
                Approach::Opens(window) => return Some(window),
                Approach::Abandoned => return None,
            }
        }
        None
    }

    /// Runs when messages come.
    fn run_on_messages(&mut self, when: Readiness) -> Option<Window> {
        loop {
            let window = self.gate.window();
            if self.gate.is_abandoned() || window.is_some_and(|window| clock::now_ns() >= window.end_ns) {
                return window;
            }
            let is_ready = match when {
                Readiness::Any => self.take_one(),
                Readiness::All => self.take_of_each(),
            };
            if is_ready {
                self.execute(None);
            } else {
                Bell::wait(window.map(|window| window.end_ns));
            }
        }
    }

    fn take_one(&mut self) -> bool {
        // All inputs share one queue.
        let message = self.inputs.first().and_then(InputReader::take);
        self.taken.messages.extend(message);
        message.is_some()
    }

    /// Takes nothing before every input has something, so that the newest is the newest when it runs.
    fn take_of_each(&mut self) -> bool {
        let held = &mut self.taken.held;
        if self
            .inputs
            .iter()
            .zip(&*held)
            .any(|(input, held)| held.is_none() && input.is_empty())
        {
            return false;
        }
        for (input, held) in self.inputs.iter().zip(&mut *held) {
            *held = held.or_else(|| input.take());
        }
        // A message that is just being replaced can't be taken for an instant; the bell rings when it can.
        if held.iter().any(Option::is_none) {
            return false;
        }
        self.taken.messages.extend(held.iter_mut().filter_map(Option::take));
        true
    }

    fn take_what_waits(&mut self) {
        for input in &self.inputs {
            let most = if input.keeps_newest() { 1 } else { input.capacity() };
            self.taken
                .messages
                .extend(std::iter::from_fn(|| input.take()).take(most));
        }
    }

    /// Computes, sends, and notes it.
    fn execute(&mut self, due_ns: Option<i64>) {
        let started_ns = clock::now_ns();
        let window = self.gate.window().filter(|window| window.holds(started_ns));
        self.computation.run();
        let span = Span {
            started_ns,
            computed_ns: clock::now_ns(),
        };
        let intended_ns = span.computed_ns - due_ns.map_or(0, |due_ns| started_ns - due_ns);
        let mut filled_ns = 0;
        for output in &mut self.outputs {
            self.taken.sent.extend(output.send(window, intended_ns, &mut filled_ns));
        }
        self.journal.ran(started_ns);
        if window.is_some() {
            self.journal.enter(span, &self.taken.messages, &self.taken.sent);
        }
        self.taken.messages.clear();
        self.taken.sent.clear();
    }
}

#[cfg(test)]
mod tests;
