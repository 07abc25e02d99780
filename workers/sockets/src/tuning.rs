//! What the tuned profiles of all families of sockets have in common.
//!
//! A family adds what it is alone in: batching and other settings. What the options do is `settings`'.

use middlemark_contract::{Axis, Profile};

/// Why UDP and TCP leave copies as they are.
pub const NO_ZERO_COPY: &str =
    "MSG_ZEROCOPY pays off above 10 kB only, and copies on loopback all the same (Linux, networking/msg_zerocopy)";

/// More than 60 of UDP's largest messages, the most that the kernel's own sizing of TCP reaches with Debian's `tcp_wmem`
/// and `rmem_max` in force, and a packet of 4 MB on a Unix domain socket.
const TUNED_BUFFER_BYTES: i64 = 4 << 20;

/// A profile that enlarges `buffers` as `source` advises, and leaves copies as they are for the reason given.
#[must_use]
pub fn tuned<const COUNT: usize>(summary: &str, copies: &str, buffers: [&str; COUNT], source: &str) -> Profile {
    Profile::new(summary)
        .leaves(
            Axis::WakeUp,
            "a thread that waits in recv, as shipped, is what sockperf and iperf3 use; polling is a delivery of its own",
        )
        .leaves(Axis::Copies, copies)
        .leaves(Axis::Discovery, "nobody is looked for: addresses are given")
        .sets(Axis::Buffers, buffers.map(|buffer| (buffer, TUNED_BUFFER_BYTES.into())), source)
}
