//! How the samples of a reader reach their taker where the library is Rust too: on a thread that sleeps until it is woken, or
//! on one that looks again and again.
//!
//! A worker says how its library wakes and what it has; `wake` is the thread. Behind a shim `reader` does the same.

mod wake;

use std::io;
use std::task::Waker;

use middlemark_contract::Delivery;
use middlemark_runtime::{Idle, MiddlewareError};

pub use wake::{Sleeper, Woken};

/// What a library has for one reader.
pub trait Inbox: Send + 'static {
    /// Has the library wake this when something comes: what comes after this call wakes, what came before is to be taken.
    fn wakes(&self, waker: &Waker);

    /// Hands over what there is; false where the thread may sleep now until it is woken.
    ///
    /// # Errors
    /// What the library reported.
    fn take(&self) -> Result<bool, MiddlewareError>;
}

/// Has a thread hand over what comes.
///
/// # Errors
/// There is no thread to be had.
pub fn deliver(inbox: impl Inbox, delivery: Delivery) -> io::Result<Woken> {
    Woken::start("reader", move |sleeper| match delivery {
        Delivery::Polling => take_without_sleep(&inbox, sleeper),
        Delivery::OwnThread | Delivery::LibraryThread => take_when_woken(&inbox, sleeper),
    })
}

fn take_when_woken(inbox: &impl Inbox, sleeper: &Sleeper) -> Result<(), MiddlewareError> {
    while !sleeper.has_ended() {
        inbox.wakes(sleeper.waker());
        if !inbox.take()? {
            sleeper.sleep();
        }
    }
    Ok(())
}

fn take_without_sleep(inbox: &impl Inbox, sleeper: &Sleeper) -> Result<(), MiddlewareError> {
    let mut idle = Idle::default();
    while !sleeper.has_ended() {
        idle.after_look(inbox.take()?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver, Sender};

    use super::*;

    /// Its library wakes whoever asked last, once.
    struct Library {
        samples: Receiver<u32>,
        wakers: Sender<Waker>,
        taken: Sender<u32>,
    }

    impl Inbox for Library {
        fn wakes(&self, waker: &Waker) {
            // Nobody wakes a thread that polls.
            let _ = self.wakers.send(waker.clone());
        }

        fn take(&self) -> Result<bool, MiddlewareError> {
            let Ok(sample) = self.samples.try_recv() else {
                return Ok(false);
            };
            if sample == 0 {
                return Err("no sample has this number".into());
            }
            self.taken.send(sample)?;
            Ok(true)
        }
    }

    fn library() -> (Library, Sender<u32>, Receiver<Waker>, Receiver<u32>) {
        let (come, samples) = mpsc::channel();
        let (wakers, asked) = mpsc::channel();
        let (taken, arrived) = mpsc::channel();
        let library = Library { samples, wakers, taken };
        (library, come, asked, arrived)
    }

    #[test]
    fn what_comes_is_handed_over_by_either_thread() {
        for delivery in [Delivery::OwnThread, Delivery::Polling] {
            let (library, come, asked, arrived) = library();
            let thread = deliver(library, delivery).unwrap();
            for sample in 1..=3 {
                come.send(sample).unwrap();
                if delivery == Delivery::OwnThread {
                    asked.recv().unwrap().wake();
                }
                assert_eq!(arrived.recv(), Ok(sample), "{delivery}");
            }
            thread.close().unwrap();
        }
    }

    #[test]
    fn what_the_library_fails_with_ends_either_thread_and_is_told() {
        for delivery in [Delivery::OwnThread, Delivery::Polling] {
            let (library, come, _asked, arrived) = library();
            come.send(0).unwrap();
            let thread = deliver(library, delivery).unwrap();
            assert!(arrived.recv().is_err(), "nothing arrives before it has ended");
            assert_eq!(thread.close().unwrap_err().to_string(), "no sample has this number");
        }
    }
}
