//! A reader and the thread that takes from it: woken by the library, or without sleep.
//!
//! A sample is copied out of the library's cache first and handed over afterwards: who answers it writes, and may wait for
//! acknowledgements for which the library needs that cache.

use std::cell::RefCell;

use middlemark_contract::Delivery;
use middlemark_dds::Taker;
use middlemark_runtime::{Idle, MiddlewareError};
use rustdds::dds::result::ReadError;
use rustdds::no_key::SimpleDataReader;

use crate::message::{Octets, Place};
use crate::wake::{Sleeper, Woken};

/// Has a thread deliver a reader's samples of up to so many bytes.
pub(crate) fn start(
    reader: SimpleDataReader<(), Octets>,
    size_bytes: usize,
    delivery: Delivery,
    taker: Taker,
) -> Result<Woken, MiddlewareError> {
    let inbox = Inbox {
        reader,
        taker,
        sample: RefCell::new(vec![0; size_bytes]), // touched before the window
    };
    let run = move |sleeper: &Sleeper| match delivery {
        Delivery::Polling => inbox.take_without_sleep(sleeper),
        Delivery::OwnThread | Delivery::LibraryThread => inbox.take_when_woken(sleeper),
    };
    Ok(Woken::start("reader", run)?)
}

/// All that the thread owns.
struct Inbox {
    reader: SimpleDataReader<(), Octets>,
    taker: Taker,
    /// What a sample is taken into.
    sample: RefCell<Vec<u8>>,
}

impl Inbox {
    fn take_when_woken(self, sleeper: &Sleeper) -> Result<(), MiddlewareError> {
        while !sleeper.has_ended() {
            // The library forgets a waker once it has called it. What comes after this wakes, what came before is taken.
            self.reader.set_waker(Some(sleeper.waker().clone()));
            if !self.take()? {
                sleeper.sleep();
            }
        }
        Ok(())
    }

    fn take_without_sleep(self, sleeper: &Sleeper) -> Result<(), MiddlewareError> {
        let mut idle = Idle::default();
        while !sleeper.has_ended() {
            if !self.take()? {
                idle.pass();
            }
        }
        Ok(())
    }

    /// Hands over all that there is; false where there was nothing.
    fn take(&self) -> Result<bool, MiddlewareError> {
        let mut has_taken = false;
        loop {
            match self.reader.try_take_one_with(Place(&self.sample)) {
                Ok(None) => return Ok(has_taken),
                Ok(Some(_)) => self.taker.take(&self.sample.borrow()),
                Err(ReadError::Deserialization { .. }) => {} // nobody's message
                Err(error) => return Err(error.to_string().into()),
            }
            has_taken = true;
        }
    }
}
