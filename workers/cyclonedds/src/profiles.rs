//! The profiles: as shipped, and tuned as Cyclone DDS's own texts and the ROS 2 guide advise, axis by axis.

use std::collections::BTreeMap;

use middlemark_contract::{Axis, Profile};

pub(crate) fn profiles() -> BTreeMap<String, Profile> {
    let default = Profile::new(
        "As shipped: 14720 B messages, 1344 B fragments, 1 MiB asked of the socket, 500 kB high-water mark.",
    );
    [
        ("default", default),
        (
            "tuned",
            latency(
                "As Cyclone DDS's README and performance scripts and the ROS 2 guide to DDS tuning advise: the same as \
                 tuned_latency.",
            ),
        ),
        (
            "tuned_latency",
            latency("As Cyclone DDS's README and performance scripts and the ROS 2 guide to DDS tuning advise."),
        ),
        (
            "tuned_throughput",
            throughput("As tuned, and small messages share a packet where one follows the other without a pause."),
        ),
    ]
    .map(|(name, profile)| (name.to_owned(), profile))
    .into()
}

/// What is advised in either case.
fn common(summary: &str) -> Profile {
    Profile::new(summary)
        .leaves(Axis::WakeUp, "the listener, as shipped, is what ddsperf uses")
        .leaves(
            Axis::Copies,
            "shared memory needs iceoryx, as a PSMX plugin or with its daemon: the bundled library is built without; a \
             loan then saves no copy",
        )
        .leaves(
            Axis::Discovery,
            "multicast, as shipped, finds peers within 25 ms; peers are given where a network has no multicast",
        )
        .sets(
            Axis::Buffers,
            [("max_message_size_bytes", 65_500.into())],
            "Cyclone DDS's README, \"Run-time configuration\": large values \"typically improve performance over the \
             (current) default values on a loopback interface\"; examples/perfscript/perftest",
        )
        .sets(
            Axis::Buffers,
            [("fragment_size_bytes", 65_000.into())],
            "Cyclone DDS's examples/perfscript/quick-microbenchmark",
        )
        .sets(
            // There as a minimum, with rmem_max raised; here as what is asked of the kernel.
            Axis::Buffers,
            [("socket_receive_buffer_bytes", (10 << 20).into())],
            "ROS 2, \"DDS tuning information\", Cyclone DDS: SocketReceiveBufferSize 10MB",
        )
        .leaves(
            Axis::Other,
            "delays of heartbeats and repetitions as shipped: its makers advise no others",
        )
}

fn latency(summary: &str) -> Profile {
    common(summary).leaves(
        Axis::Batching,
        "each write sends, as shipped: dds_qset_writer_batching \"increases latency a bit\"",
    )
}

fn throughput(summary: &str) -> Profile {
    common(summary).sets(
        Axis::Batching,
        [("write_batching", true.into())],
        "dds_qset_writer_batching: \"spreading the fixed cost out over more samples\"; its example throughput and ddsperf have \
         it on; for unthrottled streams alone, as a packet that is not full waits for more",
    )
}
