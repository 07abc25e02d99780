//! Who takes a reader's messages, and which streams can't be delivered by the library's own thread.
//!
//! A write from the library's receive thread may have to wait for an acknowledgement that this very thread would read.

#[cfg(any(test, feature = "test"))]
pub(crate) mod ping_pong;

use middlemark_contract::{Deliveries, Delivery, DeliveryDescription, Refusal, StreamSpec};

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

/// Refuses reliable messages or requests that the library's thread would answer, where an answer may have to wait for room: for
/// acknowledgements, that is, which this very thread would read. `waits` says of which messages that is true, given their
/// policies and size, `reason` why, given the stream's name.
///
/// # Errors
/// The refusal.
pub fn refuse_library_thread(
    delivery: Delivery,
    streams: &[StreamSpec],
    waits: impl Fn(&Policies, usize) -> bool,
    reason: impl FnOnce(&str) -> String,
) -> Result<(), Refusal> {
    let waiting = |stream: &&StreamSpec| {
        let Some(answer_bytes) = stream.pattern.answer_bytes() else {
            return false;
        };
        let policies = Policies::of(stream.qos, answer_bytes as usize, 0);
        let may_wait = policies.reliable == 1 && policies.depth == 0 && policies.max_blocking_ns > 0;
        may_wait && waits(&policies, answer_bytes as usize)
    };
    match streams.iter().find(waiting) {
        Some(stream) if delivery == Delivery::LibraryThread => Err(Refusal {
            capability: "delivery".into(),
            reason: reason(&stream.name),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use middlemark_contract::{Congestion, History, PatternSpec, Qos};

    use super::ping_pong::ping_pong;
    use super::*;

    fn refused(delivery: Delivery, stream: &StreamSpec) -> Option<Refusal> {
        let streams = std::slice::from_ref(stream);
        refuse_library_thread(delivery, streams, |_, _| true, |name| format!("not '{name}'")).err()
    }

    #[test]
    fn a_waiting_answer_is_refused_from_the_librarys_thread_alone() {
        let stream = ping_pong(64, Qos::RELIABLE);
        let refusal = refused(Delivery::LibraryThread, &stream).unwrap();
        assert_eq!(
            (refusal.capability.as_str(), refusal.reason.as_str()),
            ("delivery", "not 'rpc'")
        );
        for delivery in [Delivery::OwnThread, Delivery::Polling] {
            assert_eq!(refused(delivery, &stream), None, "{delivery}");
        }
    }

    #[test]
    fn what_never_waits_may_be_answered_from_any_thread() {
        let drops = Qos {
            congestion: Congestion::Drop,
            ..Qos::RELIABLE
        };
        let overwrites = Qos {
            history: History::KeepLast { depth: 16 },
            ..drops
        };
        let question = StreamSpec {
            pattern: PatternSpec::Unthrottled {
                approach_hz: 1.0,
                messages: None,
            },
            ..ping_pong(64, Qos::RELIABLE)
        };
        let streams = [Qos::BEST_EFFORT, drops, overwrites].map(|qos| ping_pong(64, qos));
        for stream in streams.iter().chain([&question]) {
            assert_eq!(refused(Delivery::LibraryThread, stream), None, "{stream:?}");
        }
    }

    #[test]
    fn an_implementation_is_asked_of_the_answers_size_and_room() {
        let asked_of = |answer_bytes| {
            let streams = [ping_pong(answer_bytes, Qos::RELIABLE)];
            let waits = |policies: &Policies, size_bytes: usize| policies.max_samples == 4096 && size_bytes == 100;
            refuse_library_thread(Delivery::LibraryThread, &streams, waits, str::to_owned).is_err()
        };
        // Of the answer, not of the question's 64 bytes; 16 MiB have room for more than 4096 of each, and for 16 of 1 MiB.
        assert!(asked_of(100));
        assert!(!asked_of(1 << 20));
    }
}
