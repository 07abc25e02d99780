//! The profiles: as shipped, and tuned as OpenDDS's Developer's Guide advises, with what it says on each axis.

use std::collections::BTreeMap;

use middlemark_contract::{Axis, Profile};

/// As large as the largest message of the suites that ship, and as what Linux grants without more rights at best.
const BUFFER_BYTES: i64 = 4 << 20;

pub(crate) fn profiles() -> BTreeMap<String, Profile> {
    let default = Profile::new(
        "RTPS over UDP as shipped: socket buffers of 64 KiB, messages to a multicast group, announcements every second.",
    );
    [("default".to_owned(), default), ("tuned".to_owned(), tuned())].into()
}

fn tuned() -> Profile {
    Profile::new("As OpenDDS's Developer's Guide advises for large samples over RTPS.")
        .leaves(
            Axis::WakeUp,
            "the listener, as shipped, is what the Messenger of its Developer's Guide uses",
        )
        .leaves(
            Axis::Copies,
            "a write serialises into memory of its own; there are neither loans of a writer nor, for RTPS, shared memory",
        )
        .leaves(
            Axis::Discovery,
            "multicast, as shipped",
        )
        .sets(
            Axis::Buffers,
            [
                ("socket_send_buffer_bytes", BUFFER_BYTES.into()),
                ("socket_receive_buffer_bytes", BUFFER_BYTES.into()),
            ],
            "OpenDDS's Developer's Guide, FAQ, \"How do I configure OpenDDS for large samples […] with RTPS?\": \
             send_buffer_size and rcv_buffer_size \"should be resized to accommodate at [least] one sample if not more\"",
        )
        .sets(
            // The buffer that was asked for is not that of the group's socket.
            Axis::Buffers,
            [("use_multicast", false.into())],
            "OpenDDS's test LargeSample, rtps.ini, beside larger buffers",
        )
        .leaves(
            Axis::Batching,
            "it has no setting that holds messages back: each write sends, as shipped",
        )
        .sets(
            Axis::Other,
            [
                ("heartbeat_period_ms", 10.into()),
                ("heartbeat_response_delay_ms", 0.into()),
                ("nak_response_delay_ms", 0.into()),
            ],
            "OpenDDS's Developer's Guide, as above: for 33 messages a second \"a heartbeat would need to be sent with a period much \
             smaller than 30ms and there should be minimal nak response delay if any\"",
        )
}
