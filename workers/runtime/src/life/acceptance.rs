//! Compares a spec with what the worker says of itself: whatever can be refused without knowing the middleware.
//!
//! Pure: it initialises nothing. What depends on the middleware's own rules is judged by [`crate::Middleware::accept`].

#[cfg(test)]
mod hostile;
mod nodes;

use std::collections::HashSet;
use std::fmt;

use middlemark_contract::{
    ApplicationSpec, Arrival, CONTRACT_VERSION, Capabilities, Deliveries, Delivery, HistoryKind, PaceSpec, Pattern,
    PatternSpec, Qos, Refusal, Role, SMALLEST_MESSAGE_BYTES, SecurityLevel, StreamSpec,
};

/// Whoever has a response looks for its request among so many at most.
const MOST_OUTSTANDING: u32 = 1024;

const LONGEST_TIMEOUT_NS: u64 = 3_600_000_000_000;

/// Whether `capabilities` meet the spec.
///
/// # Errors
/// The first refusal, with what was requested and what there is.
pub(crate) fn accept(spec: &ApplicationSpec, capabilities: &Capabilities) -> Result<(), Refusal> {
    accept_version(spec.contract_version)?;
    accept_rendezvous(spec)?;
    accept_endpoints(spec, capabilities)?;
    accept_hosts(spec, capabilities)?;
    accept_delivery(spec.delivery, &capabilities.deliveries)?;
    accept_security(spec.security.as_ref().map(|security| security.level), capabilities)?;
    nodes::accept(spec)?;
    spec.streams
        .iter()
        .try_for_each(|stream| accept_stream(stream, capabilities))
}

/// Whether the front speaks this worker's version of the contract.
///
/// # Errors
/// The refusal, with both versions.
pub(crate) fn accept_version(version: u32) -> Result<(), Refusal> {
    require(version == CONTRACT_VERSION, "contract_version", || {
        format!("the front speaks version {version}, this worker version {CONTRACT_VERSION}")
    })
}

fn accept_rendezvous(spec: &ApplicationSpec) -> Result<(), Refusal> {
    let name = &spec.rendezvous.name;
    let plain = (1..=24).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    require(plain, "spec", || {
        format!("rendezvous name '{name}' is not 1 to 24 letters, digits and _")
    })?;
    require(spec.rendezvous.domain <= 99, "spec", || {
        format!("domain {} is above 99", spec.rendezvous.domain)
    })?;
    require(spec.rendezvous.folder.is_dir(), "spec", || {
        format!("the trial's folder {} does not exist", spec.rendezvous.folder.display())
    })
}

fn accept_endpoints(spec: &ApplicationSpec, capabilities: &Capabilities) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for endpoint in &spec.endpoints {
        let stream = spec
            .streams
            .iter()
            .find(|stream| stream.name == endpoint.stream)
            .ok_or_else(|| Refusal {
                capability: "spec".into(),
                reason: format!(
                    "an endpoint names the stream '{}', which the spec does not have",
                    endpoint.stream
                ),
            })?;
        let addresses = match endpoint.role {
            Role::Publisher => &stream.publishers,
            Role::Subscriber => &stream.subscribers,
        };
        let held = addresses
            .get(usize::from(endpoint.index))
            .is_some_and(|address| address.application == spec.application);
        require(held, "spec", || {
            format!(
                "endpoint {} of '{}' is not this application's by the stream's addresses",
                endpoint.index, endpoint.stream
            )
        })?;
        require(
            seen.insert((&endpoint.stream, endpoint.role, endpoint.index)),
            "spec",
            || format!("endpoint {} of '{}' is there twice", endpoint.index, endpoint.stream),
        )?;
    }
    let shares_process = spec.streams.iter().any(|stream| {
        let holds = |role| {
            spec.endpoints
                .iter()
                .any(|endpoint| endpoint.stream == stream.name && endpoint.role == role)
        };
        holds(Role::Publisher) && holds(Role::Subscriber)
    });
    require(capabilities.same_process || !shares_process, "placement", || {
        "publisher and subscriber can't live in one application".into()
    })
}

fn accept_hosts(spec: &ApplicationSpec, capabilities: &Capabilities) -> Result<(), Refusal> {
    let elsewhere = spec
        .streams
        .iter()
        .flat_map(|stream| stream.publishers.iter().chain(&stream.subscribers))
        .find(|endpoint| endpoint.address != spec.address);
    require(
        capabilities.between_hosts || elsewhere.is_none(),
        "between_hosts",
        || "applications on different hosts can't reach each other".into(),
    )
}

fn accept_delivery(delivery: Delivery, deliveries: &Deliveries) -> Result<(), Refusal> {
    require(deliveries.how(delivery).is_some(), "delivery", || {
        let there: Vec<_> = deliveries.has.iter().map(|each| each.delivery.to_string()).collect();
        let lacking = deliveries.lacks.iter().find(|each| each.delivery == delivery);
        let why = lacking.map_or_else(String::new, |each| format!(", as {}", each.reason));
        format!("there is no {delivery}{why}; there is {}", there.join(", "))
    })
}

/// Whether the level of a spec is one that the worker has.
///
/// # Errors
/// The refusal, with the worker's reason.
pub(crate) fn accept_security(level: Option<SecurityLevel>, capabilities: &Capabilities) -> Result<(), Refusal> {
    let Some(level) = level else {
        return Ok(());
    };
    let has = capabilities.security.iter().any(|each| each.level == level);
    require(has, "security", || {
        let lacking = capabilities.lacking_security.iter().find(|each| each.level == level);
        let why = lacking.map_or_else(String::new, |each| format!(": {}", each.reason));
        format!("it can't be {level}{why}")
    })
}

fn accept_stream(stream: &StreamSpec, capabilities: &Capabilities) -> Result<(), Refusal> {
    let name = &stream.name;
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    require(plain, "spec", || {
        format!("stream name '{name}' is not letters, digits and _")
    })?;
    require_one_of("pattern", pattern(&stream.pattern), &capabilities.patterns)?;
    accept_pattern(stream)?;
    accept_recorded(stream)?;
    accept_size("size_bytes", stream.size_bytes, capabilities)?;
    if let Some(answer_bytes) = stream.pattern.answer_bytes() {
        accept_size("answer_bytes", answer_bytes, capabilities)?;
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

fn accept_size(what: &str, size_bytes: u64, capabilities: &Capabilities) -> Result<(), Refusal> {
    require(size_bytes >= SMALLEST_MESSAGE_BYTES, "size_bytes", || {
        format!("{what} {size_bytes}: the smallest message has {SMALLEST_MESSAGE_BYTES} bytes, its header")
    })?;
    require(size_bytes <= capabilities.largest_message_bytes, "size_bytes", || {
        format!(
            "{what} {size_bytes} is too large: the largest message has {} bytes",
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

fn require(holds: bool, capability: &str, reason: impl FnOnce() -> String) -> Result<(), Refusal> {
    if holds {
        Ok(())
    } else {
        Err(Refusal {
            capability: capability.into(),
            reason: reason(),
        })
    }
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
