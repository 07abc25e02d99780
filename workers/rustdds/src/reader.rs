//! A reader's samples, as a thread of the worker takes them. Its event sources for mio would wake it as well but for those of
//! mio 0.6, which report a reader's first message alone (rustdds 0.15.1).
//!
//! A sample is copied out of the library's cache first and handed over afterwards: who answers it writes, and may wait for
//! acknowledgements for which the library needs that cache.

use std::cell::RefCell;
use std::task::Waker;

use middlemark_dds::{Inbox, Taker};
use middlemark_runtime::MiddlewareError;
use rustdds::dds::result::ReadError;
use rustdds::no_key::SimpleDataReader;

use crate::message::{Octets, Place};

/// All that the thread owns.
pub(crate) struct Samples {
    reader: SimpleDataReader<(), Octets>,
    taker: Taker,
    /// What a sample is taken into.
    sample: RefCell<Vec<u8>>,
}

impl Samples {
    /// Those of a reader of up to so many bytes each.
    pub(crate) fn new(reader: SimpleDataReader<(), Octets>, size_bytes: usize, taker: Taker) -> Samples {
        Samples {
            reader,
            taker,
            sample: RefCell::new(vec![0; size_bytes]), // touched before the window
        }
    }
}

impl Inbox for Samples {
    /// The library forgets a waker once it has called it.
    fn wakes(&self, waker: &Waker) {
        self.reader.set_waker(Some(waker.clone()));
    }

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
