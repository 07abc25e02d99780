//! Receiving: a thread for each subscriber that waits for an event, or polls, and hands over all that has come.
//!
//! Data and events are apart in iceoryx2: an event says only that there may be data, so each one empties the buffer. The
//! session's end is an event too, so that a thread that waits does nothing until there is something to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use iceoryx2::port::listener::{Listener, ListenerWaitError};
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{CallbackProgression, SignalHandlingMode, WaitSetBuilder};
use middlemark_runtime::{Idle, MiddlewareError, Receiver};

use crate::service::Kind;

/// What tells a subscriber that data may have come.
pub(crate) enum Wake {
    /// Its listener, waited for by itself.
    Listener(Listener<Kind>),
    /// Its listener, attached to a wait set.
    WaitSet(Listener<Kind>),
    /// Nothing: it looks all the time.
    Poll,
}

/// A subscriber at work on a thread of its own.
pub(crate) struct ReceiveLoop {
    ends: Arc<AtomicBool>,
    /// Wakes all listeners of the channel, each of which then looks whether its own session ends; none where they poll.
    bell: Option<Notifier<Kind>>,
    thread: JoinHandle<Result<(), MiddlewareError>>,
}

impl ReceiveLoop {
    pub(crate) fn start(
        subscriber: Subscriber<Kind, [u8], ()>,
        wake: Wake,
        bell: Option<Notifier<Kind>>,
        receiver: Receiver,
    ) -> ReceiveLoop {
        let ends = Arc::new(AtomicBool::new(false));
        let reception = Reception {
            subscriber,
            wake,
            receiver,
            ends: Arc::clone(&ends),
        };
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
        self.thread.join().map_err(|_| "a subscriber's thread panicked")?
    }
}

/// All that a subscriber's thread owns.
struct Reception {
    subscriber: Subscriber<Kind, [u8], ()>,
    wake: Wake,
    receiver: Receiver,
    ends: Arc<AtomicBool>,
}

// SAFETY: the ports of the plain service count their owners without atomics and are for one thread at a time. Both ports
// are made, moved here whole before any sample is taken, and from then on used and dropped by this one thread.
unsafe impl Send for Reception {}

impl Reception {
    fn run(self) -> Result<(), MiddlewareError> {
        match &self.wake {
            Wake::Listener(listener) => self.listen(listener),
            Wake::WaitSet(listener) => self.wait(listener),
            Wake::Poll => self.poll(),
        }
    }

    fn listen(&self, listener: &Listener<Kind>) -> Result<(), MiddlewareError> {
        while self.goes_on() {
            self.empty()?;
            match listener.blocking_wait(|_| {}) {
                // A process that was stopped and goes on is told so: it looks again.
                Ok(_) | Err(ListenerWaitError::InterruptSignal) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn wait(&self, listener: &Listener<Kind>) -> Result<(), MiddlewareError> {
        let waitset = WaitSetBuilder::new()
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<Kind>()?;
        let _attachment = waitset.attach_notification(listener)?;
        self.empty()?;
        let mut result = Ok(());
        while self.goes_on() && result.is_ok() {
            let on_event = |_| {
                result = self.take_events(listener);
                CallbackProgression::Continue
            };
            waitset.wait_and_process_once(on_event)?;
        }
        result
    }

    fn take_events(&self, listener: &Listener<Kind>) -> Result<(), MiddlewareError> {
        listener.try_wait(|_| {})?;
        self.empty()?;
        Ok(())
    }

    fn poll(&self) -> Result<(), MiddlewareError> {
        let mut idle = Idle::default();
        while self.goes_on() {
            if !self.empty()? {
                idle.pass();
            }
        }
        Ok(())
    }

    /// Hands over all that there is; false where there was nothing.
    #[inline]
    fn empty(&self) -> Result<bool, MiddlewareError> {
        let mut found = false;
        while let Some(message) = self.subscriber.receive()? {
            self.receiver.receive(message.payload());
            found = true;
        }
        Ok(found)
    }

    #[inline]
    fn goes_on(&self) -> bool {
        !self.ends.load(Ordering::Acquire)
    }
}
