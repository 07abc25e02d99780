//! Whether a middleware can do what a stream requests: its pattern, its sizes, its QoS.
//!
//! Pure. Whose endpoints a stream has is judged beside it, and what several properties together need by the middleware.

use std::fmt;

use middlemark_contract::{
    Arrival, Capabilities, HistoryKind, PaceSpec, Pattern, PatternSpec, Qos, Refusal, SMALLEST_MESSAGE_BYTES,
    StreamSpec,
};

use super::require;

/// A response is matched with its request by going through all that are under way: so many at most.
const MOST_OUTSTANDING: u32 = 1024;

const LONGEST_TIMEOUT_NS: u64 = 3_600_000_000_000;

/// # Errors
/// The first refusal.
pub(super) fn accept(stream: &StreamSpec, capabilities: &Capabilities) -> Result<(), Refusal> {
    let name = &stream.name;
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    require(plain, "spec", || {
        format!("stream name '{name}' is not letters, digits and _")
    })?;
    require_one_of("pattern", pattern(&stream.pattern), &capabilities.patterns)?;
    accept_pattern(stream)?;
    accept_recorded(stream)?;
    accept_payload(stream, capabilities)?;
    accept_size("a message", stream.size_bytes, capabilities)?;
    if let Some(answer_bytes) = stream.pattern.answer_bytes() {
        accept_size("an answer", answer_bytes, capabilities)?;
    }
    let qos = &stream.qos;
    require_one_of("reliability", qos.reliability, &capabilities.reliabilities)?;
    require_one_of("durability", qos.durability, &capabilities.durabilities)?;
    accept_queue(qos, capabilities)?;
    qos.level
        .map_or(Ok(()), |level| require_one_of("level", level, &[0, 1, 2]))
}

fn accept_queue(qos: &Qos, capabilities: &Capabilities) -> Result<(), Refusal> {
    let (history, congestion) = (qos.history.kind(), qos.congestion);
    require_one_of("congestion", congestion, &capabilities.congestion)?;
    require_one_of("history", history, &capabilities.histories)?;
    require(history == HistoryKind::KeepAll || !qos.blocks(), "congestion", || {
        "keep_last overwrites, so it can't block; ask for keep_all or for drop".into()
    })?;
    require(qos.patience_ns <= Qos::LONGEST_PATIENCE_NS, "patience", || {
        format!("{} ns: the longest is {} ns", qos.patience_ns, Qos::LONGEST_PATIENCE_NS)
    })?;
    require(qos.queue_bytes > 0, "queue", || {
        "a queue of 0 bytes holds no message".into()
    })
}

fn accept_pattern(stream: &StreamSpec) -> Result<(), Refusal> {
    let rate_hz = match stream.pattern {
        PatternSpec::Periodic { rate_hz, .. }
        | PatternSpec::Burst { rate_hz, .. }
        | PatternSpec::RequestResponse {
            pace: PaceSpec::Open { rate_hz, .. },
            ..
        }
        | PatternSpec::Computed { rate_hz: Some(rate_hz) } => rate_hz,
        PatternSpec::Unthrottled { approach_hz, .. }
        | PatternSpec::PingPong { approach_hz, .. }
        | PatternSpec::RequestResponse {
            pace: PaceSpec::Closed { approach_hz },
            ..
        } => approach_hz,
        PatternSpec::Computed { rate_hz: None } => return Ok(()),
    };
    require(rate_hz.is_finite() && rate_hz > 0.0, "spec", || {
        format!("a rate of {rate_hz} Hz on '{}'", stream.name)
    })?;
    accept_requests(stream)
}

fn accept_requests(stream: &StreamSpec) -> Result<(), Refusal> {
    let PatternSpec::RequestResponse {
        outstanding,
        timeout_ns,
        ..
    } = stream.pattern
    else {
        return Ok(());
    };
    let (clients, servers) = (stream.publishers.len(), stream.subscribers.len());
    require(servers <= clients, "placement", || {
        format!(
            "{servers} servers of '{}' for {clients} clients, each of which asks one",
            stream.name
        )
    })?;
    require((1..=MOST_OUTSTANDING).contains(&outstanding), "spec", || {
        format!(
            "{outstanding} requests of '{}' under way at once; 1 to {MOST_OUTSTANDING} can be",
            stream.name
        )
    })?;
    require((1..=LONGEST_TIMEOUT_NS).contains(&timeout_ns), "spec", || {
        format!(
            "a timeout of {timeout_ns} ns on '{}'; the longest is {LONGEST_TIMEOUT_NS} ns",
            stream.name
        )
    })
}

fn accept_recorded(stream: &StreamSpec) -> Result<(), Refusal> {
    let Some(recorded) = &stream.recorded else {
        return Ok(());
    };
    let (offsets_ns, sizes_bytes, name) = (&recorded.offsets_ns, &recorded.sizes_bytes, &stream.name);
    let periodic = matches!(
        stream.pattern,
        PatternSpec::Periodic {
            arrival: Arrival::Fixed,
            ..
        }
    );
    require(periodic, "spec", || {
        format!("'{name}' has recorded messages and is not periodic at a fixed rate")
    })?;
    require(
        !offsets_ns.is_empty() && offsets_ns.len() == sizes_bytes.len(),
        "spec",
        || {
            format!(
                "'{name}' has {} recorded instants and {} sizes",
                offsets_ns.len(),
                sizes_bytes.len()
            )
        },
    )?;
    let ordered = offsets_ns.is_sorted() && offsets_ns.last().is_some_and(|last| *last < recorded.period_ns);
    require(ordered, "spec", || {
        format!("the recorded instants of '{name}' are not in order within their period")
    })?;
    let (smallest, largest) = (sizes_bytes.iter().min(), sizes_bytes.iter().max());
    let sized = smallest.is_some_and(|size| *size >= SMALLEST_MESSAGE_BYTES) && largest == Some(&stream.size_bytes);
    require(sized, "size_bytes", || {
        format!(
            "the recorded sizes of '{name}' are not from {SMALLEST_MESSAGE_BYTES} to its size of {}",
            stream.size_bytes
        )
    })
}

/// Which sizes a payload can have is judged where its memory is reserved.
fn accept_payload(stream: &StreamSpec, capabilities: &Capabilities) -> Result<(), Refusal> {
    let Some(payload) = stream.payload else {
        return Ok(());
    };
    let (kind, has) = (payload.kind, &capabilities.serialisations);
    require(!has.is_empty(), "payload", || {
        format!("it has no serialisation for {kind}, only octets")
    })?;
    if let Some(serialisation) = payload.serialisation {
        require_one_of("serialisation", serialisation, has)?;
    }
    require(stream.recorded.is_none(), "payload", || {
        format!(
            "messages of {kind} have one size, and those of '{}' were recorded",
            stream.name
        )
    })?;
    let is_of_node = matches!(stream.pattern, PatternSpec::Computed { .. });
    require(!is_of_node, "payload", || {
        format!("a node sends octets, and '{}' would be of {kind}", stream.name)
    })
}

fn accept_size(what: &str, size_bytes: u64, capabilities: &Capabilities) -> Result<(), Refusal> {
    require(size_bytes >= SMALLEST_MESSAGE_BYTES, "size_bytes", || {
        format!(
            "{what} of {size_bytes} bytes is too small: the smallest has {SMALLEST_MESSAGE_BYTES} bytes, its header"
        )
    })?;
    require(size_bytes <= capabilities.largest_message_bytes, "size_bytes", || {
        format!(
            "{what} of {size_bytes} bytes is too large: the largest has {} bytes",
            capabilities.largest_message_bytes
        )
    })
}

fn pattern(spec: &PatternSpec) -> Pattern {
    match spec {
        // To a middleware a node's messages are like any that are not answered.
        PatternSpec::Periodic { .. } | PatternSpec::Computed { .. } => Pattern::Periodic,
        PatternSpec::Burst { .. } => Pattern::Burst,
        PatternSpec::Unthrottled { .. } => Pattern::Unthrottled,
        PatternSpec::PingPong { .. } => Pattern::PingPong,
        PatternSpec::RequestResponse { .. } => Pattern::RequestResponse,
    }
}

/// In the words of the contract, which are those of a suite.
fn require_one_of<T: Copy + PartialEq + fmt::Display>(
    capability: &str,
    requested: T,
    has: &[T],
) -> Result<(), Refusal> {
    require(has.contains(&requested), capability, || {
        let there: Vec<_> = has.iter().map(T::to_string).collect();
        format!("it can't do {requested}, only {}", there.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use middlemark_contract::{Congestion, Reliability};

    use super::*;

    #[test]
    fn a_refusal_names_what_was_requested_and_what_there_is_in_the_words_of_a_suite() {
        let refusal = require_one_of("reliability", Reliability::Reliable, &[Reliability::BestEffort]).unwrap_err();
        assert_eq!(refusal.reason, "it can't do reliable, only best_effort");
        let both = [Congestion::Block, Congestion::Drop];
        assert!(require_one_of("congestion", Congestion::Block, &both).is_ok());
    }
}
