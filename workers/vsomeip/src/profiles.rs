//! The profiles: as shipped, and tuned by vSomeIP's user guide and example configurations, axis by axis.

use std::collections::BTreeMap;

use middlemark_contract::{Axis, Profile};

pub(crate) fn profiles() -> BTreeMap<String, Profile> {
    let default = Profile::new(
        "As shipped: 2 ms nPDU debounce and up to 5 ms retention between hosts, service discovery after a random delay of \
         up to 3 s, two I/O threads, log level info (into a file, as standard output is taken)",
    );
    [("default".to_owned(), default), ("tuned".to_owned(), tuned())].into()
}

fn tuned() -> Profile {
    Profile::new(
        "For latency, by the vSomeIP user guide and the configurations that vSomeIP ships as examples: no nPDU delays, \
         short delays of service discovery, buffers kept at the size of the largest message",
    )
    .leaves(
        Axis::WakeUp,
        "it has one way alone: the handler on its dispatcher thread",
    )
    .leaves(Axis::Copies, "it has neither loans nor shared memory")
    .sets(
        Axis::Discovery,
        [
            ("sd_initial_delay_min_ms", 10.into()),
            ("sd_initial_delay_max_ms", 100.into()),
        ],
        "config/vsomeip-tcp-service.json and all other configurations that are shipped as examples",
    )
    .sets(
        // Startup is what is measured here.
        Axis::Discovery,
        [("sd_offer_debounce_ms", 10.into())],
        "user guide, offer_debounce_time: it is there \"to reduce the number of sent messages during startup\"",
    )
    .sets(
        Axis::Buffers,
        [("buffer_shrink_threshold", 0.into())],
        "user guide, buffer-shrink-threshold: at zero \"the buffer sizes aren't reseted\"",
    )
    .sets(
        Axis::Batching,
        [("npdu_debounce_ms", 0.into()), ("npdu_retention_ms", 0.into())],
        "user guide, \"vsomeip nPDU feature\": it \"trades lower network load for speed\"; with its listing of zeros",
    )
    .sets(
        Axis::Other,
        [("log_level", "warning".into())],
        "user guide, level: what is not logged costs nothing",
    )
}
