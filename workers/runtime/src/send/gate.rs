//! Where publishers and nodes learn of the approach and of the measured window, and wait for what comes before either.
//!
//! It knows no message and keeps no schedule; `application` opens it, `sender` and `node` read it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use middlemark_contract::{GREETINGS_HZ, GREETINGS_OF_TRIAL_HZ, PUBLISHING_WINDOWS};

use crate::clock;

/// How long before an instant a publisher stops listening for the trial's end, so that only the clock wakes it.
pub(crate) const ALERT_NS: i64 = 20_000_000;

/// The measured window.
#[expect(clippy::struct_field_names, reason = "a unit ends a name")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) begin_ns: i64,
    pub(crate) end_ns: i64,
    /// From when on this application takes part: later than the beginning where it has joined an open window.
    pub(crate) joined_ns: i64,
}

impl Window {
    /// The window for an application that was started then. Who was there before it opened takes part from its
    /// beginning, however late it learns of it: what was due meanwhile is late, and not left out.
    pub(crate) fn learned_of(started_ns: i64, now_ns: i64, begin_ns: i64, end_ns: i64) -> Window {
        let joined_ns = if started_ns <= begin_ns { begin_ns } else { now_ns };
        Window::joined_at(joined_ns, begin_ns, end_ns)
    }

    /// The window for who takes part from this instant on, or from the beginning where that is later.
    pub(crate) fn joined_at(now_ns: i64, begin_ns: i64, end_ns: i64) -> Window {
        let joined_ns = now_ns.max(begin_ns);
        Window {
            begin_ns,
            end_ns,
            joined_ns,
        }
    }

    /// Whether an instant lies before the window, which is open by now.
    pub(crate) fn is_behind(self, instant_ns: i64) -> bool {
        instant_ns < self.begin_ns && clock::now_ns() >= self.begin_ns
    }

    /// When a publisher that is behind its schedule gives up the rest of it.
    pub(crate) fn publish_until_ns(self) -> i64 {
        self.begin_ns + PUBLISHING_WINDOWS * (self.end_ns - self.begin_ns)
    }

    /// Whether an instant lies within what this application measures of it.
    #[inline]
    pub(crate) fn holds(self, instant_ns: i64) -> bool {
        (self.joined_ns..self.end_ns).contains(&instant_ns)
    }

    /// The first number of a publisher without a schedule: behind all that one before it may have used by then, of the
    /// most that the window is reserved for.
    pub(crate) fn first_number(self, most: u32) -> u32 {
        let (missed_ns, whole_ns) = (self.joined_ns - self.begin_ns, self.end_ns - self.begin_ns);
        if missed_ns >= whole_ns {
            return most;
        }
        (i128::from(most) * i128::from(missed_ns) / i128::from(whole_ns)) as u32
    }
}

/// Where publishers learn of the window.
#[derive(Debug)]
pub(crate) struct WindowGate {
    /// From one greeting of a publisher to its next.
    greeting_ns: i64,
    state: Mutex<Gate>,
    changed: Condvar,
    /// The same as in `state`, to be read with each message.
    abandoned: AtomicBool,
    /// The same as in `state`, to be read with each execution.
    window: OnceLock<Window>,
}

/// What a wait before the window has come to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Approach {
    /// The instant is there.
    Due,
    /// The instant lies within the window.
    Opens(Window),
    /// The trial is given up.
    Abandoned,
}

#[derive(Debug, Default, Clone, Copy)]
enum Gate {
    #[default]
    Greeting,
    /// Since when.
    Approaching(i64),
    Measuring(Window),
    Abandoned,
}

impl Default for WindowGate {
    fn default() -> WindowGate {
        WindowGate::of(1)
    }
}

impl WindowGate {
    /// The gate of an application in a trial of so many publishers.
    pub(crate) fn of(publishers: usize) -> WindowGate {
        let apart_s = (publishers as f64 / GREETINGS_OF_TRIAL_HZ).max(1.0 / GREETINGS_HZ);
        WindowGate {
            greeting_ns: (1e9 * apart_s) as i64,
            state: Mutex::default(),
            changed: Condvar::new(),
            abandoned: AtomicBool::new(false),
            window: OnceLock::new(),
        }
    }

    /// The greetings are over; without effect where more than that is over.
    pub(crate) fn approach_from(&self, instant_ns: i64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, Gate::Greeting) {
            *state = Gate::Approaching(instant_ns);
        }
        drop(state);
        self.changed.notify_all();
    }

    pub(crate) fn open(&self, window: Window) {
        self.window.get_or_init(|| window);
        self.set(Gate::Measuring(window));
    }

    /// The trial is given up, before its window or within.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Relaxed);
        self.set(Gate::Abandoned);
    }

    /// The window, once it is known.
    #[inline]
    pub(crate) fn window(&self) -> Option<Window> {
        self.window.get().copied()
    }

    #[inline]
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Relaxed)
    }

    /// Waits until shortly before an instant; false where the trial is given up.
    #[inline]
    pub(crate) fn rest_before(&self, instant_ns: i64) -> bool {
        if clock::now_ns() < instant_ns - ALERT_NS {
            self.wait_while(instant_ns - ALERT_NS, |gate| !matches!(gate, Gate::Abandoned));
        }
        !self.is_abandoned()
    }

    /// Has greetings sent from an instant on until the approach begins, by number and instant; tells when it began, and
    /// none where the trial is given up.
    pub(crate) fn greet(&self, start_ns: i64, mut send: impl FnMut(u32, i64)) -> Option<i64> {
        let (mut sequence, mut due_ns) = (0, start_ns);
        loop {
            match self.wait_while(due_ns, |gate| matches!(gate, Gate::Greeting)) {
                Gate::Greeting => send(sequence, due_ns),
                Gate::Approaching(begin_ns) => return Some(begin_ns),
                Gate::Measuring(_) => return Some(clock::now_ns()),
                Gate::Abandoned => return None,
            }
            sequence += 1;
            // Who is behind leaves out what has passed.
            due_ns = clock::now_ns().max(due_ns + self.greeting_ns);
        }
    }

    /// Waits, before the window, for an instant at which something is due.
    pub(crate) fn approach(&self, instant_ns: i64) -> Approach {
        match self.wait_until(instant_ns) {
            Gate::Abandoned => return Approach::Abandoned,
            // What was to come before the window still goes out, so that it opens in a steady state.
            Gate::Measuring(window) if instant_ns >= window.begin_ns => return Approach::Opens(window),
            Gate::Measuring(_) if !self.rest_before(instant_ns) => return Approach::Abandoned,
            Gate::Measuring(_) => clock::wait_until(instant_ns, 0),
            Gate::Greeting | Gate::Approaching(_) => {}
        }
        Approach::Due
    }

    fn set(&self, gate: Gate) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = gate;
        self.changed.notify_all();
    }

    /// Waits until an instant, or until the window is known or given up.
    fn wait_until(&self, instant_ns: i64) -> Gate {
        self.wait_while(instant_ns, |gate| matches!(gate, Gate::Greeting | Gate::Approaching(_)))
    }

    fn wait_while(&self, instant_ns: i64, holds: fn(&Gate) -> bool) -> Gate {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while holds(&state) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publishers_greet_more_seldom_where_a_trial_has_many() {
        let apart_ns = [1, 16, 32, 1600].map(|publishers| WindowGate::of(publishers).greeting_ns);
        assert_eq!(apart_ns, [1_000_000, 1_000_000, 2_000_000, 100_000_000]);
    }
}
