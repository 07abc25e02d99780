//! The publishing end of one writer, and how all of a session are closed; the session says when.

use std::ffi::{CStr, c_void};
use std::thread;

use middlemark_contract::Congestion;
use middlemark_dds::{Policies, checked, opened, read_back};
use middlemark_runtime::{MiddlewareError, Publish, PublishError};

use crate::shim::{self, ShimSession, ShimWriter, TIMED_OUT};

/// How many writers are closed at once.
const CLOSING_THREADS: usize = 64;

/// An open writer.
#[derive(Clone, Copy)]
pub(crate) struct Writer(*mut ShimWriter);

// SAFETY: OpenDDS's writers may be used from any thread.
unsafe impl Send for Writer {}

impl Writer {
    /// # Safety
    /// `session` is open, and stays so until the writer is closed; `matching` lives until the session is closed.
    pub(crate) unsafe fn open(
        session: *mut ShimSession,
        topic: &CStr,
        policies: &Policies,
        matching: *const c_void,
    ) -> Result<Writer, MiddlewareError> {
        let handle = opened(
            &format!("create the writer of {}", topic.to_string_lossy()),
            |writer, reason| {
                // SAFETY: the session is open; topic and policies live through the call.
                unsafe { shim::mm_writer_open(session, topic.as_ptr(), policies, matching, writer, reason) }
            },
        )?;
        Ok(Writer(handle))
    }

    /// The policies that the writer really has.
    pub(crate) fn policies(self) -> String {
        // SAFETY: a writer is had of an open session only, and the policies can be written.
        read_back(|found| unsafe { shim::mm_writer_qos(self.0, found) }, Policies::words)
    }

    /// Closes it.
    ///
    /// # Safety
    /// Nobody publishes any more, and it is closed once.
    unsafe fn close(self) -> Result<(), MiddlewareError> {
        // SAFETY: the handle is used for the last time, as its caller says.
        checked(unsafe { shim::mm_writer_close(self.0) }, "delete a writer")?;
        Ok(())
    }

    pub(crate) fn publisher(self, congestion: Congestion) -> impl Publish {
        Sender {
            writer: self,
            congestion,
        }
    }
}

/// Closes all of a session's writers at once: each may wait for acknowledgements that don't come any more, and one after the
/// other they would take longer than an application has.
///
/// # Safety
/// Nobody publishes any more, and each is closed once.
pub(crate) unsafe fn close_all(writers: &[Writer]) -> Result<(), MiddlewareError> {
    let share = writers.len().div_ceil(CLOSING_THREADS).max(1);
    let close = |few: Vec<Writer>| -> Result<(), MiddlewareError> {
        // SAFETY: as this function's caller says.
        let ended: Vec<_> = few.into_iter().map(|writer| unsafe { writer.close() }).collect();
        ended.into_iter().collect()
    };
    thread::scope(|scope| {
        let shares = writers.chunks(share).map(<[Writer]>::to_vec);
        let closing: Vec<_> = shares
            .map(|few| thread::Builder::new().spawn_scoped(scope, move || close(few)))
            .collect();
        let ended = closing
            .into_iter()
            .map(|thread| thread?.join().expect("closing does not panic"));
        ended.collect()
    })
}

struct Sender {
    writer: Writer,
    congestion: Congestion,
}

impl Publish for Sender {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        // SAFETY: the writer is open, and the message lives through the call, which serialises it.
        match unsafe { shim::mm_write(self.writer.0, message.as_ptr(), message.len() as u32) } {
            0.. => Ok(()),
            TIMED_OUT if self.congestion == Congestion::Drop => Err(PublishError::Full),
            TIMED_OUT => Err(PublishError::TimedOut),
            code => Err(PublishError::Failed {
                call: "DataWriter::write",
                code: i64::from(-code),
            }),
        }
    }
}
