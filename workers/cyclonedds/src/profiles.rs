//! The profiles: as shipped, and tuned as Cyclone DDS's own texts and the ROS 2 guide advise, axis by axis.

use std::collections::BTreeMap;

use middlemark_contract::{Axis, Profile};

pub(crate) fn profiles() -> BTreeMap<String, Profile> {
    let default = Profile::new(
        "As shipped: 14720 B messages, 1344 B fragments, 1 MiB asked of the socket, 500 kB high-water mark.",
    );
    [("default".to_owned(), default), ("tuned".to_owned(), tuned())].into()
}

fn tuned() -> Profile {
    Profile::new("As Cyclone DDS's README and performance scripts and the ROS 2 guide to DDS tuning advise.")
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
            Axis::Batching,
            "each write sends, as shipped: write batching \"gives greater throughput at the expense of latency\" \
             (Internal/WriteBatch)",
        )
        .leaves(
            Axis::Other,
            "delays of heartbeats and repetitions as shipped: its makers advise no others",
        )
}
