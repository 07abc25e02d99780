//! Which ways messages take over a link: over TLS they may only go one way.
//!
//! Zenoh 1.10.2 reads and writes the one state of a TLS link from two threads without a lock (its issue 2557). With requests
//! and responses on one link responses were lost in most trials, and a process ended with SIGABRT.

use std::collections::BTreeSet;

use middlemark_contract::{Refusal, StreamSpec};

use crate::security::refuse;

/// Refuses what goes both ways over one link, where links are TLS's: between two peers, or between a client and its router.
pub(super) fn accept(streams: &[StreamSpec], is_through_router: bool) -> Result<(), Refusal> {
    let ways: BTreeSet<_> = streams.iter().flat_map(ways).collect();
    let both = if is_through_router {
        let senders: BTreeSet<_> = ways.iter().map(|(from, _)| from).collect();
        ways.iter().find(|(_, to)| senders.contains(to)).map(|(_, to)| *to)
    } else {
        let back = |(from, to): &&(_, _)| from != to && ways.contains(&(*to, *from));
        ways.iter().find(back).map(|(from, _)| *from)
    };
    match both {
        None => Ok(()),
        Some(application) => refuse(format!(
            "it can't be encrypted over TLS where messages go both ways over a link, here one of '{application}': Zenoh 1.10.2 \
             loses some and may crash, as it reads and writes a TLS link from two threads at once (its issue 2557); ask for \
             transport 'quic'"
        )),
    }
}

/// From whom to whom a stream's messages go, and their answers.
fn ways(stream: &StreamSpec) -> impl Iterator<Item = (&str, &str)> {
    let is_answered = stream.pattern.answer_bytes().is_some();
    stream.publishers.iter().flat_map(move |publisher| {
        let from = publisher.application.as_str();
        stream.subscribers.iter().flat_map(move |subscriber| {
            let to = subscriber.application.as_str();
            [Some((from, to)), is_answered.then_some((to, from))]
                .into_iter()
                .flatten()
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stream(publishers: &[&str], subscribers: &[&str], is_answered: bool) -> StreamSpec {
        let endpoints = |names: &[&str]| {
            let each = names
                .iter()
                .map(|name| json!({"application": name, "address": "127.0.0.1"}));
            each.collect::<Vec<_>>()
        };
        let pattern = if is_answered {
            json!({
                "kind": "ping_pong", "approach_hz": 1.0, "answer_bytes": 64, "interval_ns": 0, "patience_ns": 1, "messages": null,
            })
        } else {
            json!({"kind": "periodic", "rate_hz": 1.0, "arrival": {"kind": "fixed"}})
        };
        serde_json::from_value(json!({
            "name": "s", "size_bytes": 64, "pattern": pattern, "qos": middlemark_contract::Qos::RELIABLE,
            "publishers": endpoints(publishers), "subscribers": endpoints(subscribers),
        }))
        .unwrap()
    }

    #[test]
    fn only_what_goes_both_ways_over_one_link_is_refused() {
        let one_way = [stream(&["a", "b"], &["c", "d"], false)];
        assert_eq!(accept(&one_way, false), Ok(()));
        assert_eq!(accept(&one_way, true), Ok(()));
        assert_eq!(accept(&[stream(&["a"], &["a"], false)], false), Ok(()));
        assert!(accept(&[stream(&["a"], &["b"], true)], false).is_err());
        let there_and_back = [stream(&["a"], &["b"], false), stream(&["b"], &["a"], false)];
        assert!(accept(&there_and_back, false).is_err());
        // Peers have a link for each other one, a client has one link for all.
        let onward = [stream(&["a"], &["b"], false), stream(&["b"], &["c"], false)];
        assert_eq!(accept(&onward, false), Ok(()));
        assert!(accept(&onward, true).unwrap_err().reason.contains("'b'"));
    }
}
