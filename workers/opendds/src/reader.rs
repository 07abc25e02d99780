//! A reader of OpenDDS, as `middlemark-dds` takes from it; the shim does the taking.
//!
//! A write from the library's thread may have to wait for an acknowledgement that this very thread would read: [`accept`]
//! refuses what comes to that.

use std::ffi::CStr;

use middlemark_contract::{Delivery, Refusal, StreamSpec};
use middlemark_dds::{Policies, Reader, ReaderHandle, refuse_library_thread};
use middlemark_runtime::{MiddlewareError, Receiver};

use crate::shim::{self, ShimReader, ShimSession, checked, opened};

/// Refuses answers from the library's thread that may wait for room in their queue.
pub(crate) fn accept(delivery: Delivery, streams: &[StreamSpec]) -> Result<(), Refusal> {
    refuse_library_thread(
        delivery,
        streams,
        |_, _| true,
        |name| {
            format!(
                "library_thread can't answer the reliable ping_pong '{name}' with keep_all and block: a write from the \
                 transport's thread waits for acknowledgements that only this thread reads; allowed: keep_last, drop, or \
                 delivery own_thread or polling"
            )
        },
    )
}

/// Opens a reader that delivers.
///
/// # Safety
/// `session` is open, and stays so until the reader is closed.
pub(crate) unsafe fn open(
    session: *mut ShimSession,
    topic: &CStr,
    policies: &Policies,
    delivery: Delivery,
    receiver: Receiver,
) -> Result<Reader<Handle>, MiddlewareError> {
    Reader::open(receiver, delivery, |on_message, context| {
        let mut reader = std::ptr::null_mut();
        opened(&format!("create the reader of {}", topic.to_string_lossy()), |reason| {
            // SAFETY: the session is open; topic and policies live through the call, the callback's context until the reader
            // is closed.
            unsafe {
                shim::mm_reader_open(
                    session,
                    topic.as_ptr(),
                    policies,
                    delivery as i32,
                    on_message,
                    context,
                    &raw mut reader,
                    reason,
                )
            }
        })?;
        Ok(Handle(reader))
    })
}

/// The shim's reader.
#[derive(Clone, Copy)]
pub(crate) struct Handle(*mut ShimReader);

// SAFETY: the shim's functions may be called from any thread; `Reader` has only one thread take, and joins it before the
// reader is closed.
unsafe impl Send for Handle {}

impl Handle {
    /// The policies that the reader really has.
    pub(crate) fn policies(self) -> String {
        let mut policies = Policies::default();
        // SAFETY: a handle is had of an open reader only, and `policies` can be written.
        let code = unsafe { shim::mm_reader_qos(self.0, &raw mut policies) };
        match checked(code, "read policies back") {
            Ok(_) => policies.words(),
            Err(error) => error.to_string(),
        }
    }
}

impl ReaderHandle for Handle {
    unsafe fn wait(self) -> Result<bool, MiddlewareError> {
        // SAFETY: the caller's promises are the shim's.
        Ok(checked(unsafe { shim::mm_wait(self.0) }, "wait for messages")? > 0)
    }

    unsafe fn take(self) -> Result<bool, MiddlewareError> {
        // SAFETY: as above.
        Ok(checked(unsafe { shim::mm_take(self.0) }, "take messages")? > 0)
    }

    unsafe fn stop(self) -> Result<(), MiddlewareError> {
        // SAFETY: as above.
        checked(unsafe { shim::mm_stop(self.0) }, "wake a reader's thread")?;
        // SAFETY: as above.
        let failure = unsafe { shim::mm_reader_failure(self.0) };
        checked(failure, "take messages in a callback")?;
        Ok(())
    }

    unsafe fn close(self) -> Result<(), MiddlewareError> {
        // SAFETY: as above.
        checked(unsafe { shim::mm_reader_close(self.0) }, "delete a reader")?;
        Ok(())
    }
}
