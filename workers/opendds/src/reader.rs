//! A reader of OpenDDS, as `middlemark-dds` takes from it; the shim does the taking.
//!
//! A write from the library's thread may have to wait for an acknowledgement that this very thread would read: [`accept`]
//! refuses what comes to that.

use std::ffi::CStr;

use middlemark_contract::{Delivery, Refusal, StreamSpec};
use middlemark_dds::{Policies, Reader, opened, read_back, refuse_library_thread};
use middlemark_runtime::{MiddlewareError, Receiver};

use crate::shim::{self, ShimSession};

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
) -> Result<Reader, MiddlewareError> {
    let doing = format!("create the reader of {}", topic.to_string_lossy());
    // SAFETY: what is opened is this reader's alone.
    unsafe {
        Reader::open(receiver, delivery, |on_message, context| {
            // The session is open; topic and policies live through the call, the callback's context until the reader is closed.
            opened(&doing, |reader, reason| {
                shim::mm_reader_open(
                    session,
                    topic.as_ptr(),
                    policies,
                    delivery as i32,
                    on_message,
                    context,
                    reader,
                    reason,
                )
            })
        })
    }
}

/// The policies that a reader really has.
pub(crate) fn policies(reader: &Reader) -> String {
    // SAFETY: a shim's reader is open as long as its `Reader`, and the policies can be written.
    read_back(
        |found| unsafe { shim::mm_reader_qos(reader.shim(), found) },
        Policies::words,
    )
}
