//! A reader and the thread that takes from it: woken by the library, or without sleep.
//!
//! A sample is copied out of the library's cache first and handed over afterwards: who answers it writes, and may wait for
//! acknowledgements for which the library needs that cache.

use std::cell::RefCell;
use std::thread::{Builder, JoinHandle};

use middlemark_contract::Delivery;
use middlemark_dds::Taker;
use middlemark_runtime::{Idle, MiddlewareError};
use rustdds::dds::result::ReadError;
use rustdds::no_key::SimpleDataReader;

use crate::message::{Into, Octets};
use crate::wake::{self, Bell, Waiter};

/// A reader at work.
pub(crate) struct Reader {
    bell: Bell,
    thread: Option<JoinHandle<Result<(), MiddlewareError>>>,
}

impl Reader {
    /// Has a reader deliver samples of up to so many bytes.
    pub(crate) fn start(
        reader: SimpleDataReader<(), Octets>,
        size_bytes: usize,
        delivery: Delivery,
        taker: Taker,
    ) -> Result<Reader, MiddlewareError> {
        let (waiter, bell) = wake::pair()?;
        let inbox = Inbox {
            reader,
            taker,
            sample: RefCell::new(vec![0; size_bytes]), // touched before the window
        };
        let run = move || match delivery {
            Delivery::Polling => inbox.poll(&waiter),
            Delivery::OwnThread | Delivery::LibraryThread => inbox.wait(waiter),
        };
        let thread = Builder::new().name("reader".into()).spawn(run)?;
        Ok(Reader {
            bell,
            thread: Some(thread),
        })
    }

    /// Stops delivering; when it returns nobody is handed anything any more.
    pub(crate) fn close(mut self) -> Result<(), MiddlewareError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), MiddlewareError> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        self.bell.ring()?;
        thread.join().map_err(|_| "a reader's thread panicked")?
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Only where something else has failed already, which is told in place of this.
        let _ = self.end();
    }
}

/// All that the thread owns.
struct Inbox {
    reader: SimpleDataReader<(), Octets>,
    taker: Taker,
    /// What a sample is taken into.
    sample: RefCell<Vec<u8>>,
}

impl Inbox {
    fn wait(self, mut waiter: Waiter) -> Result<(), MiddlewareError> {
        waiter.attach(&self.reader)?;
        while !waiter.has_ended() {
            self.empty()?;
            waiter.wait()?;
        }
        Ok(())
    }

    fn poll(self, waiter: &Waiter) -> Result<(), MiddlewareError> {
        let mut idle = Idle::default();
        while !waiter.has_ended() {
            if !self.empty()? {
                idle.pass();
            }
        }
        Ok(())
    }

    /// Hands over all that there is; false where there was nothing.
    fn empty(&self) -> Result<bool, MiddlewareError> {
        self.reader.drain_read_notifications();
        let mut has_taken = false;
        loop {
            match self.reader.try_take_one_with(Into(&self.sample)) {
                Ok(None) => return Ok(has_taken),
                Ok(Some(_)) => self.taker.take(&self.sample.borrow()),
                Err(ReadError::Deserialization { .. }) => {} // nobody's message
                Err(error) => return Err(error.to_string().into()),
            }
            has_taken = true;
        }
    }
}
