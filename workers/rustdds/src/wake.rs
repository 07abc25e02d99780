//! A wait by mio, as RustDDS has it: for what the library makes ready, or for the end of the session.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mio_06::{Evented, Events, Poll, PollOpt, Ready, Registration, SetReadiness, Token};

const LIBRARY: Token = Token(0);
const END: Token = Token(1);

/// Who waits; belongs to one thread.
pub(crate) struct Waiter {
    poll: Poll,
    events: Events,
    _end: Registration,
    ends: Arc<AtomicBool>,
}

/// What ends a wait for good.
pub(crate) struct Bell {
    ready: SetReadiness,
    ends: Arc<AtomicBool>,
}

/// A wait and what ends it.
pub(crate) fn pair() -> io::Result<(Waiter, Bell)> {
    let poll = Poll::new()?;
    let (end, ready) = Registration::new2();
    poll.register(&end, END, Ready::readable(), PollOpt::edge())?;
    let ends = Arc::new(AtomicBool::new(false));
    let waiter = Waiter {
        poll,
        events: Events::with_capacity(8),
        _end: end,
        ends: Arc::clone(&ends),
    };
    Ok((waiter, Bell { ready, ends }))
}

impl Waiter {
    /// From now on [`Self::wait`] returns when the library has made this ready.
    pub(crate) fn attach(&self, source: &dyn Evented) -> io::Result<()> {
        source.register(&self.poll, LIBRARY, Ready::readable(), PollOpt::edge())
    }

    /// Waits for the library or the end.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        self.poll.poll(&mut self.events, None).map(|_| ())
    }

    /// Whether the bell has rung.
    pub(crate) fn has_ended(&self) -> bool {
        self.ends.load(Ordering::Acquire)
    }
}

impl Bell {
    /// Ends the wait.
    pub(crate) fn ring(&self) -> io::Result<()> {
        self.ends.store(true, Ordering::Release);
        self.ready.set_readiness(Ready::readable())
    }
}
