//! A reader of Cyclone DDS, as `middlemark-dds` takes from it; the shim does the taking.
//!
//! Publishing from the library's receive thread can wait for an acknowledgement that the same thread would have to read;
//! that is why a listener is not the default, and why [`accept`] refuses it for a reliable ping-pong.

use std::ffi::CStr;

use middlemark_contract::{ApplicationSpec, Refusal};
use middlemark_dds::{Policies, Reader, ReaderHandle, ReceiveMode, refuse_listener};
use middlemark_runtime::{MiddlewareError, Options, Receiver};

use crate::shim::{self, ShimReader, checked};

/// Messages of together so many bytes are taken at once, so that none waits long for the copying of the others.
const BATCH_BYTES: usize = 64 << 10;

/// Refuses answers from a listener that may wait.
pub(crate) fn accept(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    refuse_listener(
        spec,
        options,
        |_| true,
        |name| {
            format!(
                "receive_mode 'listener' can't carry the reliable ping_pong '{name}': a write from the library's receive thread waits \
             for acknowledgements that only this thread reads; allowed: waitset_thread, polling"
            )
        },
    )
}

/// Opens a reader that delivers.
pub(crate) fn open(
    participant: i32,
    topic: &CStr,
    policies: &Policies,
    size_bytes: usize,
    mode: ReceiveMode,
    receiver: Receiver,
) -> Result<Reader<Handle>, MiddlewareError> {
    Reader::open(receiver, mode, |on_message, context| {
        let mut reader = std::ptr::null_mut();
        // SAFETY: the topic and the policies live through the call, the callback's context until the reader is closed.
        let code = unsafe {
            shim::mm_reader_open(
                participant,
                topic.as_ptr(),
                policies,
                size_bytes as u32,
                (BATCH_BYTES / size_bytes).clamp(1, 64) as u32,
                i32::from(mode == ReceiveMode::Listener),
                on_message,
                context,
                &raw mut reader,
            )
        };
        checked(code, || format!("create the reader of {}", topic.to_string_lossy()))?;
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
    /// The DDS entity, for reading its policies back.
    pub(crate) fn entity(self) -> i32 {
        // SAFETY: a handle is had of an open reader only.
        unsafe { shim::mm_reader_entity(self.0) }
    }
}

impl ReaderHandle for Handle {
    unsafe fn wait(self) -> Result<bool, MiddlewareError> {
        // SAFETY: the caller's promises are the shim's.
        Ok(checked(unsafe { shim::mm_wait(self.0) }, || "wait for messages".into())? > 0)
    }

    unsafe fn take(self) -> Result<bool, MiddlewareError> {
        // SAFETY: as above.
        Ok(checked(unsafe { shim::mm_take(self.0) }, || "take messages".into())? > 0)
    }

    unsafe fn stop(self) -> Result<(), MiddlewareError> {
        // SAFETY: as above.
        checked(unsafe { shim::mm_stop(self.0) }, || "wake a reader's thread".into())?;
        Ok(())
    }

    unsafe fn close(self) -> Result<(), MiddlewareError> {
        // SAFETY: as above.
        unsafe { shim::mm_reader_close(self.0) };
        Ok(())
    }
}
