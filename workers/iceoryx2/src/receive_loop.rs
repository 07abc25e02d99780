//! Receiving: a thread for each subscriber that waits for an event, or polls, and hands over all that has come.
//!
//! Data and events are apart in iceoryx2: an event says only that there may be data, so each one empties the buffer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use iceoryx2::port::listener::Listener;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::{CallbackProgression, SignalHandlingMode, WaitSetBuilder};
use middlemark_runtime::{MiddlewareError, Receiver};

use crate::service::Kind;

/// How long a thread waits at most before it looks whether the session ends.
const WATCH: Duration = Duration::from_millis(50);

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
    thread: JoinHandle<Result<(), MiddlewareError>>,
}

impl ReceiveLoop {
    pub(crate) fn start(subscriber: Subscriber<Kind, [u8], ()>, wake: Wake, receiver: Receiver) -> ReceiveLoop {
        let ends = Arc::new(AtomicBool::new(false));
        let reception = Reception {
            subscriber,
            receiver,
            ends: Arc::clone(&ends),
        };
        let thread = thread::spawn(move || match wake {
            Wake::Listener(listener) => reception.listen(&listener),
            Wake::WaitSet(listener) => reception.wait(&listener),
            Wake::Poll => reception.poll(),
        });
        ReceiveLoop { ends, thread }
    }

    /// Tells the thread to end, without waiting for it.
    pub(crate) fn end(&self) {
        self.ends.store(true, Relaxed);
    }

    /// Waits until the thread has ended.
    pub(crate) fn join(self) -> Result<(), MiddlewareError> {
        self.thread.join().map_err(|_| "a subscriber's thread panicked")?
    }
}

struct Reception {
    subscriber: Subscriber<Kind, [u8], ()>,
    receiver: Receiver,
    ends: Arc<AtomicBool>,
}

impl Reception {
    fn listen(&self, listener: &Listener<Kind>) -> Result<(), MiddlewareError> {
        while self.goes_on() {
            listener.timed_wait(|_| {}, WATCH)?;
            self.empty()?;
        }
        Ok(())
    }

    fn wait(&self, listener: &Listener<Kind>) -> Result<(), MiddlewareError> {
        let waitset = WaitSetBuilder::new()
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<Kind>()?;
        let _attachment = waitset.attach_notification(listener)?;
        let mut result = Ok(());
        while self.goes_on() && result.is_ok() {
            let on_event = |_| {
                result = self.take_events(listener);
                CallbackProgression::Continue
            };
            waitset.wait_and_process_once_with_timeout(on_event, WATCH)?;
        }
        result
    }

    fn take_events(&self, listener: &Listener<Kind>) -> Result<(), MiddlewareError> {
        listener.try_wait(|_| {})?;
        self.empty()
    }

    fn poll(&self) -> Result<(), MiddlewareError> {
        while self.goes_on() {
            self.empty()?;
            // Without giving way, pollers keep each other and the publisher off the CPUs where there are few.
            thread::yield_now();
        }
        Ok(())
    }

    #[inline]
    fn empty(&self) -> Result<(), MiddlewareError> {
        while let Some(message) = self.subscriber.receive()? {
            self.receiver.receive(message.payload());
        }
        Ok(())
    }

    #[inline]
    fn goes_on(&self) -> bool {
        !self.ends.load(Relaxed)
    }
}
