//! Publishers of no middleware, one for each way of handing over, which note what they are given and when.
//!
//! They transmit nothing; the tests of `send` compare what they noted with what was recorded.

use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex};

use crate::clock;
use crate::message::header::{HEADER_BYTES, Header};
use crate::send::publish::{Publish, PublishError, PublishInPlace, PublishMoved, Publisher};

/// What lending takes at least.
pub(crate) const LOAN_NS: i64 = 2_000_000;

/// A call: when it began, and the message.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) began_ns: i64,
    pub(crate) header: Header,
    pub(crate) body: Vec<u8>,
}

/// What a publisher was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<Call>>>);

impl Notes {
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.0.lock().unwrap().clone()
    }

    fn enter(&self, began_ns: i64, message: &[u8]) {
        let header = Header::decode(message.first_chunk().unwrap()).unwrap();
        let body = message[HEADER_BYTES..].to_vec();
        self.0.lock().unwrap().push(Call { began_ns, header, body });
    }
}

/// One of each kind, by the name of its kind.
pub(crate) fn one_of_each() -> [(&'static str, Publisher, Notes); 3] {
    let [copies, lends, takes] = [Notes::default(), Notes::default(), Notes::default()];
    [
        ("copying", Publisher::Copying(Box::new(Copies(copies.clone()))), copies),
        ("in place", Publisher::InPlace(Box::new(Lends(lends.clone()))), lends),
        ("moving", Publisher::Moving(Box::new(Takes(takes.clone()))), takes),
    ]
}

struct Copies(Notes);

impl Publish for Copies {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        self.0.enter(clock::now_ns(), message);
        Ok(())
    }
}

struct Lends(Notes);

impl PublishInPlace for Lends {
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        let began_ns = clock::now_ns();
        let mut loan = vec![MaybeUninit::uninit(); size_bytes];
        clock::sleep_until(began_ns + LOAN_NS);
        write(&mut loan);
        // SAFETY: `write` leaves every byte initialised.
        let message = unsafe { std::slice::from_raw_parts(loan.as_ptr().cast(), loan.len()) };
        self.0.enter(began_ns, message);
        Ok(())
    }
}

struct Takes(Notes);

impl PublishMoved for Takes {
    fn publish_moved(&mut self, message: Vec<u8>) -> Result<(), PublishError> {
        self.0.enter(clock::now_ns(), &message);
        Ok(())
    }
}
