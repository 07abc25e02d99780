//! A thread for each subscriber, server and client that waits for an event, or polls, and empties its inbox.
//!
//! Data and events are apart in iceoryx2: an event says only that there may be data, so each one empties the inbox. The
//! session's end is an event too, so that a thread that waits does nothing until there is something to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use iceoryx2::port::listener::{Listener, ListenerWaitError};
use iceoryx2::port::notifier::Notifier;
use iceoryx2::prelude::{CallbackProgression, SignalHandlingMode, WaitSetBuilder};
use middlemark_runtime::{Idle, MiddlewareError};

use crate::service::Kind;

/// After so long without an event a thread looks all the same, as iceoryx2's examples `event` and
/// `request_response_with_events` do: its 0.10.0 can leave a listener asleep although events were sent, then and from then on.
/// It costs nothing else: the library sets a time-out for each wait, this one or its own of nine hours.
const WAIT: Duration = Duration::from_secs(1);

/// What comes to one endpoint: a subscriber's messages, a server's requests, a client's responses.
pub(crate) trait Inbox: 'static {
    /// Hands over all that there is; false where there was nothing.
    fn empty(&mut self) -> Result<bool, MiddlewareError>;
}

/// What tells that data may have come.
pub(crate) enum Wake {
    /// A listener, waited for by itself.
    Listener(Listener<Kind>),
    /// A listener, attached to a wait set.
    WaitSet(Listener<Kind>),
    /// Nothing: it looks all the time.
    Poll,
}

/// An inbox at work on a thread of its own.
pub(crate) struct ReceiveLoop {
    ends: Arc<AtomicBool>,
    /// Wakes all listeners of the same events, each of which then looks whether its own session ends; none where they poll.
    bell: Option<Notifier<Kind>>,
    thread: JoinHandle<Result<(), MiddlewareError>>,
}

impl ReceiveLoop {
    pub(crate) fn start(inbox: impl Inbox, wake: Wake, bell: Option<Notifier<Kind>>) -> ReceiveLoop {
        let ends = Arc::new(AtomicBool::new(false));
        let rounds = Rounds {
            inbox,
            ends: Arc::clone(&ends),
        };
        let reception = Reception { rounds, wake };
        let thread = thread::spawn(move || reception.run());
        ReceiveLoop { ends, bell, thread }
    }

    /// Tells the thread to end, without waiting for it.
    pub(crate) fn end(&self) -> Result<(), MiddlewareError> {
        self.ends.store(true, Ordering::Release);
        if let Some(bell) = &self.bell {
            bell.notify()?;
        }
        Ok(())
    }

    /// Waits until the thread has ended.
    pub(crate) fn join(self) -> Result<(), MiddlewareError> {
        self.thread.join().map_err(|_| "a receiving thread panicked")?
    }
}

/// All that the thread owns.
struct Reception<I> {
    rounds: Rounds<I>,
    wake: Wake,
}

// SAFETY: the ports of the plain service count their owners without atomics and are for one thread at a time. All ports are
// made, moved here whole before anything is taken, and from then on used and dropped by this one thread.
unsafe impl<I: Inbox> Send for Reception<I> {}

impl<I: Inbox> Reception<I> {
    fn run(self) -> Result<(), MiddlewareError> {
        let Reception { mut rounds, wake } = self;
        match &wake {
            Wake::Listener(listener) => rounds.listen(listener),
            Wake::WaitSet(listener) => rounds.wait(listener),
            Wake::Poll => rounds.poll(),
        }
    }
}

/// An inbox that is emptied again and again until the session ends.
struct Rounds<I> {
    inbox: I,
    ends: Arc<AtomicBool>,
}

impl<I: Inbox> Rounds<I> {
    fn listen(&mut self, listener: &Listener<Kind>) -> Result<(), MiddlewareError> {
        while self.goes_on() {
            self.inbox.empty()?;
            match listener.timed_wait(|_| {}, WAIT) {
                // A process that was stopped and goes on is told so: it looks again.
                Ok(_) | Err(ListenerWaitError::InterruptSignal) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn wait(&mut self, listener: &Listener<Kind>) -> Result<(), MiddlewareError> {
        let waitset = WaitSetBuilder::new()
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<Kind>()?;
        let _attachment = waitset.attach_notification(listener)?;
        self.inbox.empty()?;
        while self.goes_on() {
            waitset.wait_and_process_once_with_timeout(|_| CallbackProgression::Continue, WAIT)?;
            self.take_events(listener)?;
        }
        Ok(())
    }

    fn take_events(&mut self, listener: &Listener<Kind>) -> Result<(), MiddlewareError> {
        listener.try_wait(|_| {})?;
        self.inbox.empty()?;
        Ok(())
    }

    fn poll(&mut self) -> Result<(), MiddlewareError> {
        let mut idle = Idle::default();
        while self.goes_on() {
            idle.after_look(self.inbox.empty()?);
        }
        Ok(())
    }

    #[inline]
    fn goes_on(&self) -> bool {
        !self.ends.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use std::process;
    use std::sync::mpsc::{self, Sender};

    use middlemark_contract::Rendezvous;

    use super::*;
    use crate::place::Place;
    use crate::{service, session};

    /// An empty inbox that tells each look.
    struct Looks(Sender<()>);

    impl Inbox for Looks {
        fn empty(&mut self) -> Result<bool, MiddlewareError> {
            self.0.send(()).expect("the test waits for looks");
            Ok(false)
        }
    }

    /// Whether a thread that no event wakes looks again and again, so that it can be told to end.
    fn looks_without_an_event(name: &str, wake: impl FnOnce(Listener<Kind>) -> Wake) -> bool {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place::of(&Rendezvous {
            name: format!("{name}{}", process::id()),
            token: 0,
            domain: 0,
            first_port: 0,
            ports: 0,
            folder: folder.path().to_owned(),
        });
        place.make().expect("its folder");
        let node = session::open_node(&place).expect("a node");
        let events = service::events_named(&node, "t", 1, 1).expect("events");
        let (told, looks) = mpsc::channel();
        let listener = events.listener_builder().create().expect("a listener");
        let asleep = ReceiveLoop::start(Looks(told), wake(listener), None);
        let looked = (0..3).all(|_| looks.recv_timeout(20 * WAIT).is_ok());
        if looked {
            asleep
                .end()
                .and_then(|()| asleep.join())
                .expect("it ends without an event");
        }
        drop((events, node));
        place.tidy();
        looked
    }

    #[test]
    fn a_listener_that_is_not_woken_looks_all_the_same() {
        assert!(looks_without_an_event("l", Wake::Listener));
    }

    #[test]
    fn a_wait_set_that_is_not_woken_looks_all_the_same() {
        assert!(looks_without_an_event("w", Wake::WaitSet));
    }
}
