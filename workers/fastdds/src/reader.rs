//! A reader of Fast DDS, as `middlemark-dds` takes from it; the shim does the taking.
//!
//! A write from the library's receive thread may have to wait for an acknowledgement that this very thread would read:
//! [`accept`] refuses what could come to that.

use std::ffi::CStr;

use middlemark_contract::{ApplicationSpec, History, Refusal};
use middlemark_dds::{Reader, ReaderHandle, ReceiveMode, refuse_listener};
use middlemark_runtime::{MiddlewareError, Options, Receiver};

use crate::quality;
use crate::shim::{self, ShimQos, ShimReader, ShimSession, ShimType, checked, opened};

/// Refuses answers from a listener where a full history makes them wait.
pub(crate) fn accept(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    refuse_listener(
        spec,
        options,
        |qos| qos.history == History::KeepAll,
        |name| {
            format!(
                "receive_mode 'listener' can't carry the reliable ping_pong '{name}' with keep_all: an answer that finds the \
             history full waits for acknowledgements that only the listener's thread reads; allowed: waitset_thread"
            )
        },
    )
}

/// Opens a reader that delivers; with `loans` messages are read where they lie.
///
/// # Safety
/// `session` is open, and stays so until the reader is closed.
pub(crate) unsafe fn open(
    session: *mut ShimSession,
    topic: &CStr,
    message_type: ShimType,
    policies: &ShimQos,
    (mode, loans): (ReceiveMode, bool),
    receiver: Receiver,
) -> Result<Reader<Handle>, MiddlewareError> {
    Reader::open(receiver, mode, |on_message, context| {
        let mut reader = std::ptr::null_mut();
        opened(&format!("create the reader of {}", topic.to_string_lossy()), |reason| {
            // SAFETY: the session is open; topic and policies live through the call, the callback's context until the reader
            // is closed.
            unsafe {
                shim::mm_reader_open(
                    session,
                    topic.as_ptr(),
                    message_type,
                    policies,
                    i32::from(mode == ReceiveMode::Listener),
                    i32::from(loans),
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
        let mut policies = ShimQos::default();
        // SAFETY: a handle is had of an open reader only, and `policies` can be written.
        let code = unsafe { shim::mm_reader_qos(self.0, &raw mut policies) };
        match checked(code, "read policies back") {
            Ok(_) => quality::words(&policies),
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
        Ok(())
    }

    unsafe fn close(self) -> Result<(), MiddlewareError> {
        // SAFETY: as above.
        checked(unsafe { shim::mm_reader_close(self.0) }, "delete a reader")?;
        Ok(())
    }
}
