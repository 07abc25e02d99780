//! The profiles: as shipped, and tuned as Fast DDS's documentation advises, with what it says on each axis.

use std::collections::BTreeMap;

use middlemark_contract::{Axis, Profile};

use crate::shim;

pub(crate) fn profiles() -> BTreeMap<String, Profile> {
    let default = Profile::new(
        "As shipped: 65500 B messages, a 512 KiB segment, the system's socket buffers, heartbeats every 3 s.",
    );
    [("default".to_owned(), default), ("tuned".to_owned(), tuned())].into()
}

fn tuned() -> Profile {
    let everywhere = of_any_version();
    if !shim::has_large_data() {
        return everywhere;
    }
    everywhere.sets(
        Axis::Other,
        [("transport", "large_data".into())],
        "Fast DDS's documentation, \"Troubleshooting\": advisable \"within lossy network conditions\"; \"TCP Transport\": designed \
         for \"large data samples over lossy networks\"",
    )
}

fn of_any_version() -> Profile {
    Profile::new("As the chapters on large data rates and on zero copy of Fast DDS's documentation advise.")
        .leaves(
            Axis::WakeUp,
            "the listener, as shipped, is what its latency test and its example hello_world use",
        )
        .sets(
            Axis::Copies,
            [("zero_copy", true.into())],
            "Fast DDS's documentation, \"Zero-Copy communication\": loans and data sharing, for types of fixed size and \
             streams that do not block",
        )
        .leaves(
            Axis::Discovery,
            "multicast, as shipped, finds peers within 0.2 s; initial peers and servers are advised where there is no \
             multicast or where participants are many (\"Initial peers\", \"Discovery Server\")",
        )
        .sets(
            // The built-in shared memory follows with a segment of twice the larger one.
            Axis::Buffers,
            [
                ("socket_send_buffer_bytes", 1_048_576.into()),
                ("socket_receive_buffer_bytes", 4_194_304.into()),
            ],
            "Fast DDS's documentation, \"Large Data Rates\", \"Increasing socket buffers size\"",
        )
        .leaves(
            Axis::Batching,
            "it has no setting that gathers messages: each write sends, as shipped",
        )
        .sets(
            Axis::Other,
            [("heartbeat_period_ms", 500.into())],
            "Fast DDS's documentation, \"Large Data Rates\", \"Tuning Heartbeat Period\"",
        )
}
