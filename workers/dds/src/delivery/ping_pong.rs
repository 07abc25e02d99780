//! The ping-pong that the tests of deliveries share, here and in the workers.

use middlemark_contract::{PatternSpec, Qos, StreamSpec};

/// A ping-pong named `rpc` of 64 B, with answers of so many bytes.
#[must_use]
pub fn ping_pong(answer_bytes: u64, qos: Qos) -> StreamSpec {
    StreamSpec {
        name: "rpc".into(),
        size_bytes: 64,
        pattern: PatternSpec::PingPong {
            approach_hz: 1.0,
            answer_bytes,
            interval_ns: 0,
            patience_ns: 1,
            messages: None,
        },
        payload: None,
        recorded: None,
        messages: None,
        qos,
        publishers: Vec::new(),
        subscribers: Vec::new(),
    }
}
