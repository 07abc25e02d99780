//! The two ways to publish: handing over the application's bytes, or writing into a loan of the library.
//!
//! Both are `session`'s; a writer is deleted with its session.

use std::mem::MaybeUninit;

use middlemark_contract::Qos;
use middlemark_dds::exchange::Guid;
use middlemark_dds::{ShimError, checked};
use middlemark_runtime::{Publish, PublishError, PublishInPlace, clock};

use crate::shim::{self, ShimWriter};

/// The DDS return codes that say more than "failed".
const OUT_OF_RESOURCES: i32 = 5;
const TIMED_OUT: i32 = 10;

/// How often a loan is asked for again, where there was none.
const LOAN_RETRY_NS: i64 = 100_000;

/// The publishing end of one writer.
pub(crate) struct Writer {
    handle: *mut ShimWriter,
    /// How long a write may wait; none: not at all.
    patience_ns: Option<i64>,
    /// Of a type of one size, memory for a message: one that is shorter, as greetings are, is sent at the type's size too.
    whole: Vec<u8>,
}

// SAFETY: Fast DDS's writers may be used from any thread, and only one thread has this one.
unsafe impl Send for Writer {}

impl Writer {
    /// `handle` stays open longer than the writer is used.
    pub(crate) fn new(handle: *mut ShimWriter, qos: &Qos, fixed_bytes: Option<usize>) -> Writer {
        Writer {
            handle,
            whole: vec![0; fixed_bytes.unwrap_or(0)],
            patience_ns: qos.blocks().then_some(qos.patience_ns as i64),
        }
    }

    /// What tells it from all other writers.
    pub(crate) fn guid(&self) -> Result<Guid, ShimError> {
        let mut guid = Guid::default();
        // SAFETY: the writer is open, and a GUID can be written.
        let code = unsafe { shim::mm_writer_guid(self.handle, &raw mut guid) };
        checked(code, "read a writer's GUID").map(|_| guid)
    }

    /// Calls again until `patience` is over: Fast DDS may say that it timed out before `max_blocking_time` is, and a loan
    /// is not waited for at all.
    fn patiently(&self, mut call: impl FnMut() -> i32) -> i32 {
        let until_ns = self.patience_ns.map_or(0, |patience_ns| clock::now_ns() + patience_ns);
        loop {
            match -call() {
                OUT_OF_RESOURCES if clock::now_ns() < until_ns => clock::sleep_until(clock::now_ns() + LOAN_RETRY_NS),
                TIMED_OUT if clock::now_ns() < until_ns => {}
                code => return -code,
            }
        }
    }

    fn judged(&self, call: &'static str, code: i32) -> Result<(), PublishError> {
        match -code {
            0 => Ok(()),
            TIMED_OUT if self.patience_ns.is_some() => Err(PublishError::TimedOut),
            TIMED_OUT | OUT_OF_RESOURCES => Err(PublishError::Full),
            other => Err(PublishError::Failed {
                call,
                code: i64::from(other),
            }),
        }
    }
}

impl Publish for Writer {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let message = if message.len() < self.whole.len() {
            self.whole[..message.len()].copy_from_slice(message);
            &self.whole
        } else {
            message
        };
        // SAFETY: the writer is open, and the message lives through the call, which serialises it; it is no shorter than
        // the type.
        let write = || unsafe { shim::mm_write(self.handle, message.as_ptr(), message.len() as u32) };
        self.judged("DataWriter::write", self.patiently(write))
    }
}

impl PublishInPlace for Writer {
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        let mut loan = std::ptr::null_mut();
        // SAFETY: the writer is open and `loan` can be written.
        let lend = || unsafe { shim::mm_loan(self.handle, &raw mut loan) };
        self.judged("DataWriter::loan_sample", self.patiently(lend))?;
        // SAFETY: a loan is memory for one message of the type's size, which is the channel's, until it is published.
        write(unsafe { std::slice::from_raw_parts_mut(loan.cast(), size_bytes) });
        // SAFETY: the loan is this writer's; one that could not be written is still lent.
        let published = self.patiently(|| unsafe { shim::mm_publish_loan(self.handle, loan) });
        if published != 0 {
            // SAFETY: the loan is this writer's and not used afterwards.
            self.judged("DataWriter::discard_loan", unsafe {
                shim::mm_discard_loan(self.handle, loan)
            })?;
        }
        self.judged("DataWriter::write", published)
    }
}
