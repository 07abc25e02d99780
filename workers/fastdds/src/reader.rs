//! A reader of Fast DDS, as `middlemark-dds` takes from it; the shim does the taking.
//!
//! A write from the library's receive thread may have to wait for an acknowledgement that this very thread would read:
//! [`accept`] refuses what could come to that.

use std::ffi::CStr;

use middlemark_contract::{Delivery, Refusal, StreamSpec};
use middlemark_dds::{Reader, Taker, WaitSet, checked, hand_over_lent, opened, read_back, refuse_library_thread};
use middlemark_runtime::{MiddlewareError, Options};

use crate::quality;
use crate::shim::{self, ShimQos, ShimSession, ShimType};

/// What a message takes of a send buffer beside its bytes, about.
const HEADERS_BYTES: usize = 128;

/// What Linux gives a socket that asks for no size (`net.core.wmem_default` as shipped).
const SYSTEM_SEND_BUFFER_BYTES: usize = 212_992;

/// Refuses answers from the library's thread that find their queue full. A writer asks for acknowledgements about once in a
/// send buffer's bytes, and when its history is full: then it is too late for an answer from the thread that reads them. As
/// tried at 64 B: with room for 16 or 256 messages the ping-pong stood still after as many, with room for 4096 it did so
/// with a send buffer of 1 MiB and never with the system's; larger messages always went on.
pub(crate) fn accept(delivery: Delivery, streams: &[StreamSpec], options: &Options) -> Result<(), Refusal> {
    let asked_bytes = options.integer("socket_send_buffer_bytes") as usize;
    let send_buffer_bytes = asked_bytes.max(SYSTEM_SEND_BUFFER_BYTES);
    refuse_library_thread(
        delivery,
        streams,
        |policies, size_bytes| policies.max_samples as usize * (size_bytes + HEADERS_BYTES) < send_buffer_bytes,
        |name| {
            format!(
                "library_thread can't answer the reliable '{name}' with block: an answer that finds its queue full, \
                 which holds less than the send buffer of {send_buffer_bytes} bytes, waits for acknowledgements that only the \
                 listener's thread reads; allowed: a larger queue, keep_last, drop, or delivery own_thread or polling"
            )
        },
    )
}

/// How a reader's messages are taken.
pub(crate) struct Taking<'a> {
    pub(crate) delivery: Delivery,
    /// Where one takes the messages of several readers.
    pub(crate) wait_set: Option<&'a WaitSet>,
    /// Whether messages are read where they lie.
    pub(crate) loans: bool,
}

/// Opens a reader that delivers.
///
/// # Safety
/// `session` is open, and stays so until the reader is closed; the wait set ends before that.
pub(crate) unsafe fn open(
    session: *mut ShimSession,
    topic: &CStr,
    message_type: ShimType,
    policies: &ShimQos,
    taking: &Taking<'_>,
    taker: Taker,
) -> Result<Reader, MiddlewareError> {
    let doing = format!("create the reader of {}", topic.to_string_lossy());
    let taken_by = taking.wait_set.map_or(taking.delivery, |_| Delivery::Polling);
    let open = |on_message, context| {
        opened(&doing, |reader, reason| {
            // SAFETY: the session is open; topic and policies live through the call, the callback's context until the reader
            // is closed.
            unsafe {
                shim::mm_reader_open(
                    session,
                    topic.as_ptr(),
                    message_type,
                    policies,
                    taken_by as i32,
                    i32::from(taking.loans),
                    on_message,
                    hand_over_lent,
                    context,
                    reader,
                    reason,
                )
            }
        })
    };
    let Some(wait_set) = taking.wait_set else {
        // SAFETY: what is opened is this reader's alone.
        return unsafe { Reader::open(taker, taking.delivery, open) };
    };
    // SAFETY: what is opened is this reader's, and the wait set alone takes from it.
    unsafe {
        let reader = Reader::open_shared(taker, open)?;
        wait_set.attach(&reader)?;
        Ok(reader)
    }
}

/// Makes the wait set of an application's readers.
pub(crate) fn wait_set() -> Result<WaitSet, MiddlewareError> {
    let open = || {
        let mut wait_set = std::ptr::null_mut();
        // SAFETY: a pointer can be written.
        let code = unsafe { shim::mm_waitset_open(&raw mut wait_set) };
        checked(code, "create the wait set").map(|_| wait_set)
    };
    // SAFETY: what is opened is the wait set's alone.
    unsafe { WaitSet::open(open) }
}

/// The policies that a reader really has.
pub(crate) fn policies(reader: &Reader) -> String {
    // SAFETY: a shim's reader is open as long as its `Reader`, and the policies can be written.
    read_back(
        |found| unsafe { shim::mm_reader_qos(reader.shim(), found) },
        quality::words,
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::{CString, c_void};
    use std::net::{IpAddr, Ipv4Addr};
    use std::ptr;
    use std::thread;
    use std::time::{Duration, Instant};

    use middlemark_contract::{OptionValue, Qos, Rendezvous};
    use middlemark_dds::security::Properties;
    use middlemark_dds::{ping_pong, sequence_type};
    use middlemark_runtime::harness;

    use super::*;
    use crate::description;
    use crate::discovery::{Discovery, Kind, Place};
    use crate::session;
    use crate::transport::Transport;

    const TOPIC: &CStr = c"thrown";
    const SIZE_BYTES: usize = 64;
    const PATIENCE: Duration = Duration::from_secs(30);

    // `tests/throwing.cpp`.
    unsafe extern "C" {
        fn mm_throw(context: *mut c_void, bytes: *const u8, size: usize);
        safe fn mm_thrown() -> u32;
    }

    fn is_accepted(answer_bytes: u64, queue_bytes: u64, send_buffer_bytes: i64) -> bool {
        let qos = Qos {
            queue_bytes,
            ..Qos::RELIABLE
        };
        let set = BTreeMap::from([(
            "socket_send_buffer_bytes".to_owned(),
            OptionValue::Integer(send_buffer_bytes),
        )]);
        let options = Options::resolve(&description::describe(), "default", &set).unwrap();
        accept(Delivery::LibraryThread, &[ping_pong(answer_bytes, qos)], &options).is_ok()
    }

    #[test]
    fn the_listener_answers_where_the_queue_holds_more_than_the_send_buffer() {
        let rooms = [16, 256, 4096].map(|messages| is_accepted(64, messages * 64, 0));
        assert_eq!(rooms, [false, false, true], "of 64 B, with the system's buffer");
        assert!(!is_accepted(64, 4096 * 64, 1 << 20), "a larger buffer");
        assert!(is_accepted(1 << 20, 16 << 20, 1 << 20), "larger answers");
    }

    /// A participant that finds its own endpoints.
    fn participant(options: &Options) -> *mut ShimSession {
        let rendezvous = Rendezvous {
            name: "thrown".into(),
            token: 1,
            domain: 97,
            first_port: 1,
            ports: 1,
            folder: "/".into(),
        };
        let discovery = Discovery {
            kind: Kind::Multicast,
            own: vec![Place {
                address: IpAddr::V4(Ipv4Addr::LOCALHOST),
                port: 0,
                index: 0,
            }],
            others: Vec::new(),
            participants: 1,
        };
        session::participant(
            "thrower",
            &rendezvous,
            Transport::Udp,
            options,
            &discovery,
            &Properties::default(),
        )
        .unwrap()
    }

    /// A reader whose messages the listener hands to what throws.
    fn throwing(session: *mut ShimSession, message_type: ShimType, policies: &ShimQos) -> Reader {
        let delivery = Delivery::LibraryThread;
        // SAFETY: the session is open; topic and policies live through the call, and what is opened is this reader's alone.
        let reader = unsafe {
            Reader::open(harness::receiver(SIZE_BYTES, 1), delivery, |_, context| {
                opened("create the reader", |reader, reason| {
                    shim::mm_reader_open(
                        session,
                        TOPIC.as_ptr(),
                        message_type,
                        policies,
                        delivery as i32,
                        0,
                        mm_throw,
                        hand_over_lent,
                        context,
                        reader,
                        reason,
                    )
                })
            })
        };
        reader.unwrap()
    }

    #[test]
    fn what_is_thrown_while_the_listener_takes_ends_nothing_and_is_told_at_the_readers_end() {
        let options = Options::resolve(&description::describe(), "default", &BTreeMap::new()).unwrap();
        let session = participant(&options);
        let policies = quality::policies(Qos::BEST_EFFORT, SIZE_BYTES, &options);
        let name = CString::new(sequence_type(SIZE_BYTES)).unwrap();
        let message_type = ShimType {
            name: name.as_ptr(),
            size: SIZE_BYTES as u32,
            plain: 0,
        };
        let reader = throwing(session, message_type, &policies);
        let writer = opened("create the writer", |writer, reason| {
            let (topic, policies) = (TOPIC.as_ptr(), &raw const policies);
            // SAFETY: the session is open, and topic and policies live through the call.
            unsafe { shim::mm_writer_open(session, topic, message_type, policies, ptr::null(), writer, reason) }
        })
        .unwrap();
        let until = Instant::now() + PATIENCE;
        while mm_thrown() < 2 {
            assert!(Instant::now() < until, "the listener threw {} times", mm_thrown());
            // SAFETY: the writer is open, and the message lives through the call.
            unsafe { shim::mm_write(writer, [0; SIZE_BYTES].as_ptr(), SIZE_BYTES as u32) };
            thread::yield_now();
        }
        let told = reader.close().unwrap_err().to_string();
        assert!(told.contains("take messages in a callback"), "{told}");
        // SAFETY: its reader is closed, and nobody publishes any more.
        assert_eq!(unsafe { shim::mm_close(session) }, 0);
    }

    #[test]
    fn a_send_buffer_is_never_taken_for_smaller_than_the_systems() {
        // 1024 messages with their headers are more than 4 KiB, and less than the 208 KiB that the system gives.
        assert!(!is_accepted(64, 1024 * 64, 4096));
    }
}
