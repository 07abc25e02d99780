//! The publishing end of one writer, which the session deletes with itself.

use std::ffi::{CStr, c_void};

use middlemark_contract::Congestion;
use middlemark_dds::{Policies, opened, read_back};
use middlemark_runtime::{MiddlewareError, Publish, PublishError};

use crate::shim::{self, ShimSession, ShimWriter, TIMED_OUT};

/// A writer, open as long as its session is.
#[derive(Clone, Copy)]
pub(crate) struct Writer(*mut ShimWriter);

impl Writer {
    /// # Safety
    /// `session` is open, and stays so until the writer is freed; `matching` lives until the session is closed.
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

    /// Gives up the handle; the library's writer is deleted with its session.
    ///
    /// # Safety
    /// Nobody publishes any more.
    pub(crate) unsafe fn free(self) {
        // SAFETY: the handle is freed once, as its session is closed once.
        unsafe { shim::mm_writer_free(self.0) }
    }

    pub(crate) fn publisher(self, congestion: Congestion) -> impl Publish {
        Sender {
            writer: self,
            congestion,
        }
    }
}

struct Sender {
    writer: Writer,
    congestion: Congestion,
}

// SAFETY: OpenDDS's writers may be used from any thread.
unsafe impl Send for Sender {}

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
