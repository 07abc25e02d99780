//! A reader of Cyclone DDS, as `middlemark-dds` takes from it; the shim does the taking.
//!
//! Publishing from the library's receive thread can wait for an acknowledgement that the same thread would have to read:
//! [`accept`] refuses what comes to that.

use std::ffi::{CStr, CString};

use middlemark_contract::{Delivery, Refusal, StreamSpec};
use middlemark_dds::{Policies, Reader, Taker, WaitSet, checked, refuse_library_thread, sequence_type};
use middlemark_runtime::MiddlewareError;

use crate::shim;

/// Messages of together so many bytes are taken at once, so that none waits long for the copying of the others.
const BATCH_BYTES: usize = 64 << 10;

/// Refuses answers from the library's thread that may wait. From 30 kB of unacknowledged answers on (`WhcHighInit`) a write
/// waits, as tried at 64 B to 4 MB: after 406, 5, 3, 2 and 0 answers the ping-pong stood still until its patience was over,
/// while with `keep_last`, or with a thread of the worker, it went on. ddsperf's ping-pong keeps the last one.
pub(crate) fn accept(delivery: Delivery, streams: &[StreamSpec]) -> Result<(), Refusal> {
    refuse_library_thread(
        delivery,
        streams,
        |_, _| true,
        |name| {
            format!(
                "library_thread can't answer the reliable '{name}' with keep_all and block: a write from the library's \
                 receive thread waits for acknowledgements that only this thread reads; allowed: keep_last, drop, or \
                 delivery own_thread or polling"
            )
        },
    )
}

/// Opens a reader that delivers; in a wait set of several where one is given.
pub(crate) fn open(
    participant: i32,
    topic: &CStr,
    policies: &Policies,
    size_bytes: usize,
    (delivery, waitset): (Delivery, Option<&WaitSet>),
    taker: Taker,
) -> Result<Reader, MiddlewareError> {
    let doing = format!("create the reader of {}", topic.to_string_lossy());
    let type_name = CString::new(sequence_type(size_bytes))?;
    let taken_by = if waitset.is_some() { Delivery::Polling } else { delivery };
    let open = |on_message, context| {
        let mut reader = std::ptr::null_mut();
        // SAFETY: the names and the policies live through the call, the callback's context until the reader is closed.
        let code = unsafe {
            shim::mm_reader_open(
                participant,
                topic.as_ptr(),
                type_name.as_ptr(),
                policies,
                size_bytes as u32,
                (BATCH_BYTES / size_bytes).clamp(1, 64) as u32,
                taken_by as i32,
                on_message,
                context,
                &raw mut reader,
            )
        };
        checked(code, &doing).map(|_| reader)
    };
    let Some(waitset) = waitset else {
        // SAFETY: what is opened is this reader's alone.
        return unsafe { Reader::open(taker, delivery, open) };
    };
    // SAFETY: what is opened is this reader's, and the wait set alone takes from it; it ends before the reader is closed.
    unsafe {
        let reader = Reader::open_shared(taker, open)?;
        waitset.attach(&reader)?;
        Ok(reader)
    }
}

/// Makes the wait set of a participant's readers.
pub(crate) fn wait_set(participant: i32) -> Result<WaitSet, MiddlewareError> {
    let open = || {
        let mut waitset = std::ptr::null_mut();
        // SAFETY: the participant exists, and a pointer can be written.
        let code = unsafe { shim::mm_waitset_open(participant, &raw mut waitset) };
        checked(code, "create the wait set").map(|_| waitset)
    };
    // SAFETY: what is opened is the wait set's alone.
    unsafe { WaitSet::open(open) }
}

/// The DDS entity of a reader, for reading its policies back.
pub(crate) fn entity(reader: &Reader) -> i32 {
    // SAFETY: a shim's reader is open as long as its `Reader`.
    unsafe { shim::mm_reader_entity(reader.shim()) }
}

#[cfg(test)]
mod tests {
    use middlemark_contract::{Congestion, Qos};
    use middlemark_dds::ping_pong;

    use super::*;

    #[test]
    fn an_answer_of_any_size_that_may_wait_needs_a_thread_of_its_own() {
        for answer_bytes in [64, 4_000_000] {
            let streams = [ping_pong(answer_bytes, Qos::RELIABLE)];
            let refusal = accept(Delivery::LibraryThread, &streams).unwrap_err();
            assert!(refusal.reason.contains("'rpc'"), "{}", refusal.reason);
            assert_eq!(accept(Delivery::OwnThread, &streams), Ok(()));
        }
    }

    #[test]
    fn an_answer_that_never_waits_is_given_by_the_listener() {
        let drops = Qos {
            congestion: Congestion::Drop,
            ..Qos::RELIABLE
        };
        for qos in [drops, Qos::BEST_EFFORT] {
            assert_eq!(accept(Delivery::LibraryThread, &[ping_pong(64, qos)]), Ok(()));
        }
    }
}
