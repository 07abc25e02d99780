//! A thread that sleeps until the library wakes it, or the session ends.
//!
//! The library has wakers of Rust's `async` for whoever waits; here one unparks a thread. Its event sources for mio would do
//! as well but for those of mio 0.6, which report a reader's first message alone (rustdds 0.15.1).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::thread::{self, Builder, JoinHandle, Thread};

use middlemark_runtime::MiddlewareError;

/// Whoever holds this as a waker wakes the thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// What the thread itself has.
pub(crate) struct Sleeper {
    ends: Arc<AtomicBool>,
    waker: Waker,
}

impl Sleeper {
    /// Wakes this thread from any other.
    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Sleeps until it is woken; returns at once where it was meanwhile, and now and then without a reason.
    pub(crate) fn sleep(&self) {
        if !self.has_ended() {
            thread::park();
        }
    }

    /// Whether the thread is to come to its end.
    pub(crate) fn has_ended(&self) -> bool {
        self.ends.load(Ordering::Acquire)
    }
}

/// A thread that sleeps and is woken; dropped, it ends as by [`Self::close`].
pub(crate) struct Woken {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), MiddlewareError>>>,
}

impl Woken {
    /// Starts it.
    pub(crate) fn start(
        name: &str,
        run: impl FnOnce(&Sleeper) -> Result<(), MiddlewareError> + Send + 'static,
    ) -> io::Result<Woken> {
        let ends = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&ends);
        let sleeping = move || {
            let waker = Waker::from(Arc::new(Unpark(thread::current())));
            run(&Sleeper { ends: own, waker })
        };
        let thread = Builder::new().name(name.into()).spawn(sleeping)?;
        Ok(Woken {
            ends,
            thread: Some(thread),
        })
    }

    /// Has it come to its end, and waits for that.
    pub(crate) fn close(mut self) -> Result<(), MiddlewareError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), MiddlewareError> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        self.ends.store(true, Ordering::Release);
        thread.thread().unpark();
        thread.join().map_err(|_| "a thread of the worker panicked")?
    }
}

impl Drop for Woken {
    fn drop(&mut self) {
        // Only where something else has failed already, which is told in place of this.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn every_wake_is_seen_and_the_end_wakes_too() {
        let (tell, told) = mpsc::channel();
        let thread = Woken::start("sleeper", move |sleeper| {
            tell.send(sleeper.waker().clone())?;
            while !sleeper.has_ended() {
                sleeper.sleep();
                tell.send(sleeper.waker().clone())?;
            }
            Ok(())
        })
        .unwrap();
        for _ in 0..3 {
            told.recv().unwrap().wake();
        }
        told.recv().unwrap();
        thread.close().unwrap();
    }

    #[test]
    fn what_the_thread_failed_with_is_told_at_its_end() {
        let thread = Woken::start("sleeper", |_| Err("no more".into())).unwrap();
        assert_eq!(thread.close().unwrap_err().to_string(), "no more");
    }
}
