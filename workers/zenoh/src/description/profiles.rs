//! The profiles: as shipped, and tuned for latency or throughput, each axis with what Zenoh's makers advise on it.

use std::collections::BTreeMap;

use middlemark_contract::{Axis, Profile};

pub(crate) fn profiles() -> BTreeMap<String, Profile> {
    let default = Profile::new(
        "As shipped (DEFAULT_CONFIG.json5 of 1.10.2), bound to the host's address and to a scouting port of the trial.",
    );
    [
        ("default", default),
        (
            "tuned",
            throughput(
                "For large messages and a quick start; small ones may share a batch: the same as tuned_throughput.",
            ),
        ),
        (
            "tuned_latency",
            latency(
                "As tuned, and no message waits for others: small ones come sooner, and fewer of them in a second.",
            ),
        ),
        (
            "tuned_throughput",
            throughput("For large messages and a quick start; small ones share a batch while the link is busy."),
        ),
    ]
    .map(|(name, profile)| (name.to_owned(), profile))
    .into()
}

/// What is advised in either case.
fn common(summary: &str) -> Profile {
    Profile::new(summary)
        .leaves(
            Axis::WakeUp,
            "the callback on the link's thread, as shipped, is what z_pong and z_sub_thr use",
        )
        .sets(
            Axis::Copies,
            [("zero_copy", true.into())],
            "Zenoh's examples z_pub_shm, z_ping_shm and z_pub_shm_thr: payloads are allocated from a provider",
        )
        .sets(
            Axis::Copies,
            [("shared_memory_mode", "init".into())],
            "DEFAULT_CONFIG.json5, transport/shared_memory/mode: \"no latency impact when first SHM buffer is processed\"",
        )
        .sets(
            Axis::Discovery,
            [("discovery", "peers".into())],
            "rmw_zenoh, DEFAULT_RMW_ZENOH_SESSION_CONFIG.json5: multicast scouting is off, endpoints are given",
        )
        .sets(
            Axis::Discovery,
            [("connect_retry_ms", 20.into())],
            "DEFAULT_CONFIG.json5, connect/retry: with endpoints given, who starts first would else wait for a second",
        )
        .sets(
            Axis::Buffers,
            [("rx_buffer_bytes", 16_777_216.into())],
            "DEFAULT_CONFIG.json5, transport/link/rx/buffer_size: \"For very high throughput scenarios […] particularly \
             relevant when dealing with large messages\"",
        )
        .leaves(
            Axis::Other,
            "the low latency transport splits no message, so that large ones are lost: it is an option",
        )
}

fn throughput(summary: &str) -> Profile {
    common(summary).leaves(
        Axis::Batching,
        "batches, as shipped, are for throughput; a message waits for others only while the link is busy",
    )
}

fn latency(summary: &str) -> Profile {
    common(summary).sets(
        Axis::Batching,
        [("express", true.into())],
        "PublisherBuilder::express: \"a positive impact on latency but a negative impact on throughput\"; z_ping has it on",
    )
}
