//! A reader's end, over a shim that only notes what it is told.

use std::sync::mpsc::{Receiver as Inbox, Sender, channel};
use std::sync::{Mutex, PoisonError};

use middlemark_runtime::harness;

use super::*;

/// A shim's reader, which `shim::tests` reaches: `wait` sleeps until `stop`, and nothing is ever there to take.
pub(crate) struct Shim {
    told: Mutex<Vec<&'static str>>,
    stop: Sender<()>,
    stopped: Mutex<Inbox<()>>,
    take_fails: bool,
    close_fails: bool,
    callback: Mutex<Option<Callback>>,
}

struct Callback(OnMessage, *mut c_void);

// SAFETY: only a test's own thread calls it.
unsafe impl Send for Callback {}

impl Shim {
    pub(crate) fn new(take_fails: bool, close_fails: bool) -> &'static Shim {
        let (stop, stopped) = channel();
        Box::leak(Box::new(Shim {
            told: Mutex::default(),
            stop,
            stopped: Mutex::new(stopped),
            take_fails,
            close_fails,
            callback: Mutex::default(),
        }))
    }

    fn tell(&self, what: &'static str) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    fn told(&self) -> Vec<&'static str> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn reader(&'static self, delivery: Delivery) -> Reader {
        // SAFETY: the shim's functions know it by this address, and it is never freed.
        let reader = unsafe {
            Reader::open(harness::receiver(100, 1), delivery, |on_message, context| {
                *self.callback.lock().unwrap() = Some(Callback(on_message, context));
                Ok(std::ptr::from_ref(self).cast_mut().cast())
            })
        };
        reader.unwrap()
    }

    /// A reader without a thread of its own.
    #[cfg(feature = "wait_set")]
    pub(crate) fn shared_reader(&'static self) -> Reader {
        // SAFETY: as above.
        let reader = unsafe {
            Reader::open_shared(harness::receiver(100, 1), |_, _| {
                Ok(std::ptr::from_ref(self).cast_mut().cast())
            })
        };
        reader.unwrap()
    }

    /// What the library's thread does with a message of too few bytes.
    fn call_back(&self) {
        let callback = self.callback.lock().unwrap().take().unwrap();
        // SAFETY: three bytes are readable; whether the context still is a receiver is what is tested.
        unsafe { callback.0(callback.1, b"abc".as_ptr(), 3) };
    }

    pub(crate) fn wait(&self) -> i32 {
        let woken = self.stopped.lock().unwrap().recv();
        self.tell("woken");
        i32::from(self.take_fails && woken.is_ok())
    }

    pub(crate) fn stop(&self) -> i32 {
        self.tell("stop");
        self.stop.send(()).map_or(-1, |()| 0)
    }

    pub(crate) fn close(&self) -> i32 {
        self.tell("close");
        if self.close_fails { -2 } else { 0 }
    }
}

#[test]
fn a_dropped_reader_ends_its_thread_before_it_is_deleted() {
    let shim = Shim::new(false, false);
    drop(shim.reader(Delivery::OwnThread));
    assert_eq!(shim.told(), ["stop", "woken", "close"]);
}

#[test]
fn a_closed_reader_tells_what_taking_failed_with_and_ends_once() {
    let shim = Shim::new(true, false);
    let error = shim.reader(Delivery::OwnThread).close().unwrap_err();
    assert_eq!(error.to_string(), "the shim could not take messages: code 1 (-1)");
    assert_eq!(shim.told(), ["stop", "woken", "close"]);
}

#[test]
fn a_reader_that_cannot_be_deleted_may_still_call_back() {
    let shim = Shim::new(false, true);
    let error = shim.reader(Delivery::LibraryThread).close().unwrap_err();
    assert_eq!(error.to_string(), "the shim could not delete a reader: code 2 (-2)");
    shim.call_back();
}
