//! The life of one publisher's thread: approach from T0 on, then the measured window, then nothing more.
//!
//! Each message is written before its instant, stamped at it, and recorded after the publish call has come back;
//! the thread owns its outbox and its samples, so nothing here is shared while messages go out.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use middlemark_contract::{PatternSpec, Published, PublisherCounts};

use crate::answer::Turn;
use crate::channel::Channel;
use crate::clock;
use crate::header::{Header, Phase};
use crate::message::{Handed, Outbox};
use crate::payload::Identity;
use crate::recorder::Recorder;
use crate::schedule::Schedule;

/// The measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) begin_ns: i64,
    pub(crate) end_ns: i64,
}

/// Where publishers learn of the window.
#[derive(Debug, Default)]
pub(crate) struct WindowGate {
    state: Mutex<Gate>,
    changed: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
enum Gate {
    #[default]
    Approaching,
    Measuring(Window),
    Abandoned,
}

impl WindowGate {
    pub(crate) fn open(&self, window: Window) {
        self.set(Gate::Measuring(window));
    }

    /// No window will come: the trial is given up.
    pub(crate) fn abandon(&self) {
        self.set(Gate::Abandoned);
    }

    fn set(&self, gate: Gate) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = gate;
        self.changed.notify_all();
    }

    /// Waits until an instant, or until the window is known or given up.
    fn wait_until(&self, instant_ns: i64) -> Gate {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while let Gate::Approaching = *state {
            let left_ns = instant_ns - clock::now_ns();
            if left_ns <= 0 {
                break;
            }
            let left = Duration::from_nanos(left_ns as u64);
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        *state
    }
}

/// One publisher.
pub(crate) struct Sender {
    pub(crate) stream: String,
    pub(crate) pattern: PatternSpec,
    pub(crate) channel: Channel,
    pub(crate) outbox: Outbox,
    pub(crate) token: u32,
    pub(crate) spin_ns: i64,
    /// The most messages of the window.
    pub(crate) messages: u32,
    pub(crate) recorder: Arc<Recorder<Published>>,
    /// Where the pattern is a ping-pong.
    pub(crate) turn: Option<Arc<Turn>>,
    pub(crate) refusal: Option<String>,
    pub(crate) sent: u32,
}

impl Sender {
    /// Publishes from `start_ns` on until the window has closed; none where no window came.
    pub(crate) fn run(mut self, start_ns: i64, gate: &WindowGate) -> Option<PublisherCounts> {
        let window = self.approach(start_ns, gate)?;
        let (intended, last_returned_ns) = match self.pattern {
            PatternSpec::Periodic { .. } | PatternSpec::Burst { .. } => self.follow_schedule(window),
            PatternSpec::Unthrottled { messages, .. } => self.flood(window, bound(messages, self.messages)),
            PatternSpec::PingPong {
                interval_ns,
                patience_ns,
                messages,
                ..
            } => self.ask(
                window,
                bound(messages, self.messages),
                interval_ns as i64,
                patience_ns as i64,
            ),
        };
        Some(PublisherCounts {
            stream: self.stream,
            publisher: self.channel.index,
            intended,
            sent: self.sent,
            refused: intended - self.sent,
            refusal: self.refusal,
            last_returned_ns: last_returned_ns as u64,
        })
    }

    fn approach(&mut self, start_ns: i64, gate: &WindowGate) -> Option<Window> {
        for (sequence, intended_ns) in (0..).zip(Schedule::new(self.pattern, self.channel.index, start_ns)) {
            self.prepare(sequence);
            match gate.wait_until(intended_ns) {
                Gate::Abandoned => return None,
                // What was to come before the window still goes out, so that it opens in a steady state.
                Gate::Measuring(window) if intended_ns >= window.begin_ns => return Some(window),
                Gate::Measuring(_) => clock::wait_until(intended_ns, 0),
                Gate::Approaching => {}
            }
            let header = self.header(sequence, intended_ns, Phase::Approach);
            self.outbox.send(header);
        }
        None
    }

    fn follow_schedule(&mut self, window: Window) -> (u32, i64) {
        let mut last_returned_ns = window.begin_ns;
        let mut sequence = 0;
        for intended_ns in Schedule::new(self.pattern, self.channel.index, window.begin_ns) {
            if intended_ns >= window.end_ns || sequence == self.messages {
                break;
            }
            self.prepare(sequence);
            clock::wait_until(intended_ns, self.spin_ns);
            last_returned_ns = self.send(sequence, intended_ns).returned_ns;
            sequence += 1;
        }
        (sequence, last_returned_ns)
    }

    pub(crate) fn flood(&mut self, window: Window, messages: u32) -> (u32, i64) {
        clock::wait_until(window.begin_ns, self.spin_ns);
        let mut now_ns = window.begin_ns;
        let mut sequence = 0;
        while sequence < messages && now_ns < window.end_ns {
            self.prepare(sequence);
            now_ns = self.send(sequence, now_ns).returned_ns;
            sequence += 1;
        }
        (sequence, now_ns)
    }

    fn ask(&mut self, window: Window, messages: u32, interval_ns: i64, patience_ns: i64) -> (u32, i64) {
        let turn = self.turn.clone().expect("a ping-pong's publisher has a turn");
        let answers = self.channel.subscribers.len() as u32;
        let mut intended_ns = window.begin_ns;
        let mut last_returned_ns = window.begin_ns;
        let mut sequence = 0;
        while sequence < messages && intended_ns < window.end_ns {
            self.prepare(sequence);
            clock::wait_until(intended_ns, self.spin_ns);
            turn.open(sequence, answers);
            let handed = self.send(sequence, intended_ns);
            last_returned_ns = handed.returned_ns;
            if handed.result.is_ok() {
                turn.wait(handed.sent_ns + patience_ns, self.spin_ns > 0);
            }
            intended_ns = clock::now_ns().max(intended_ns + interval_ns);
            sequence += 1;
        }
        (sequence, last_returned_ns)
    }

    #[inline]
    fn prepare(&mut self, sequence: u32) {
        self.outbox.prepare(Identity {
            channel: self.channel.number,
            publisher: self.channel.index,
            sequence,
        });
    }

    #[inline]
    fn send(&mut self, sequence: u32, intended_ns: i64) -> Handed {
        let header = self.header(sequence, intended_ns, Phase::Window);
        let handed = self.outbox.send(header);
        match handed.result {
            Ok(()) => self.sent += 1,
            Err(error) => {
                self.refusal.get_or_insert_with(|| error.to_string());
            }
        }
        self.recorder.record(Published {
            stream: self.channel.number / 2,
            publisher: self.channel.index,
            sequence,
            intended_ns,
            sent_ns: handed.sent_ns,
            returned_ns: handed.returned_ns,
            accepted: u8::from(handed.result.is_ok()),
        });
        handed
    }

    #[inline]
    fn header(&self, sequence: u32, intended_ns: i64, phase: Phase) -> Header {
        Header {
            sent_ns: 0,
            intended_ns,
            sequence,
            token: self.token,
            channel: self.channel.number,
            publisher: self.channel.index,
            asker: 0,
            phase,
        }
    }
}

fn bound(messages: Option<u64>, most: u32) -> u32 {
    messages.map_or(most, |messages| messages.min(u64::from(most)) as u32)
}
