//! A thread that sleeps until the library wakes it, or the session ends.
//!
//! Libraries in Rust have the wakers of its `async` for whoever waits; here one unparks a thread. What it does then is its
//! own: `inbox` takes samples, a worker may follow events.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::thread::{self, Builder, JoinHandle, Thread};

use middlemark_runtime::MiddlewareError;

/// Whoever holds this as a waker wakes the thread. That it was woken is kept here, as a library that parks the thread within a
/// call of its own would take it for its own wake.
struct Unpark {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// What the thread itself has.
pub struct Sleeper {
    ends: Arc<AtomicBool>,
    unpark: Arc<Unpark>,
    waker: Waker,
}

impl Sleeper {
    /// Wakes this thread from any other.
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Sleeps until it is woken, or to come to its end; returns at once where it was woken since it slept last.
    pub fn sleep(&self) {
        while !self.has_ended() && !self.unpark.is_woken.swap(false, Ordering::AcqRel) {
            thread::park();
        }
    }

    /// Whether the thread is to come to its end.
    pub fn has_ended(&self) -> bool {
        self.ends.load(Ordering::Acquire)
    }
}

/// A thread that sleeps and is woken; dropped, it ends as by [`Self::close`].
pub struct Woken {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), MiddlewareError>>>,
}

impl Woken {
    /// Starts it.
    pub fn start(
        name: &str,
        run: impl FnOnce(&Sleeper) -> Result<(), MiddlewareError> + Send + 'static,
    ) -> io::Result<Woken> {
        let ends = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&ends);
        let sleeping = move || {
            let unpark = Arc::new(Unpark {
                thread: thread::current(),
                is_woken: AtomicBool::new(false),
            });
            run(&Sleeper {
                ends: own,
                waker: Waker::from(Arc::clone(&unpark)),
                unpark,
            })
        };
        let thread = Builder::new().name(name.into()).spawn(sleeping)?;
        Ok(Woken {
            ends,
            thread: Some(thread),
        })
    }

    /// Has it come to its end, and waits for that.
    pub fn close(mut self) -> Result<(), MiddlewareError> {
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
    use std::time::Duration;

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
    fn a_wake_is_not_lost_to_a_library_that_parks_the_thread() {
        let (tell, told) = mpsc::channel();
        let thread = Woken::start("sleeper", move |sleeper| {
            sleeper.waker().wake_by_ref();
            thread::park();
            sleeper.sleep();
            Ok(tell.send(())?)
        })
        .unwrap();
        told.recv_timeout(Duration::from_secs(10)).unwrap();
        thread.close().unwrap();
    }

    #[test]
    fn what_the_thread_failed_with_is_told_at_its_end() {
        let thread = Woken::start("sleeper", |_| Err("no more".into())).unwrap();
        assert_eq!(thread.close().unwrap_err().to_string(), "no more");
    }
}
