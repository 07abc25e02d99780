//! Who takes a reader's messages, and which streams can't be delivered by the library's own thread.
//!
//! A write from the library's receive thread may have to wait for an acknowledgement that this very thread would read.

use middlemark_contract::{
    ApplicationSpec, Deliveries, Delivery, DeliveryDescription, PatternSpec, Refusal, StreamSpec,
};

use crate::policies::Policies;

/// The deliveries of a DDS implementation, all three, of which a listener is the default; the sources are whose examples
/// use a listener, a wait set, or neither.
#[must_use]
pub fn deliveries(listener: &str, wait_set: &str, polling: &str) -> Deliveries {
    let described = |delivery, source| DeliveryDescription::new(delivery, how(delivery), source);
    Deliveries {
        default: Delivery::LibraryThread,
        has: vec![
            described(Delivery::LibraryThread, listener),
            described(Delivery::OwnThread, wait_set),
            described(Delivery::Polling, polling),
        ],
        lacks: Vec::new(),
    }
}

/// How a reader's messages are taken, in words.
#[must_use]
pub fn how(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::LibraryThread => "A listener takes messages on the library's receive thread.",
        Delivery::OwnThread => "A thread for each reader waits in a wait set and takes messages.",
        Delivery::Polling => "A thread for each reader takes messages again and again without sleep.",
    }
}

/// Refuses a reliable ping-pong that the library's thread would answer, where an answer may have to wait for room: for
/// acknowledgements, that is, which this very thread would read. `waits` says of which messages that is true, given their
/// policies and size, `reason` why, given the stream's name.
///
/// # Errors
/// The refusal.
pub fn refuse_library_thread(
    spec: &ApplicationSpec,
    waits: impl Fn(&Policies, usize) -> bool,
    reason: impl FnOnce(&str) -> String,
) -> Result<(), Refusal> {
    let waiting = |stream: &&StreamSpec| {
        let PatternSpec::PingPong { answer_bytes, .. } = stream.pattern else {
            return false;
        };
        let policies = Policies::of(stream.qos, answer_bytes as usize, 0);
        let may_wait = policies.reliable == 1 && policies.depth == 0 && policies.max_blocking_ns > 0;
        may_wait && waits(&policies, answer_bytes as usize)
    };
    match spec.streams.iter().find(waiting) {
        Some(stream) if spec.delivery == Delivery::LibraryThread => Err(Refusal {
            capability: "delivery".into(),
            reason: reason(&stream.name),
        }),
        _ => Ok(()),
    }
}
