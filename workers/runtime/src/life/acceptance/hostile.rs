//! Whatever spec a front gives: it is refused with a reason, or its channels are ones that a worker can serve.

use middlemark_contract::{
    ApplicationCommand, Congestion, DeliveryDescription, Durability, HistoryKind, Pattern, PortHolders, Qos,
    Reliability, ServiceCommand,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::*;
use crate::message::channel::Channel;
use crate::message::header::HEADER_BYTES;

const LARGEST: u64 = 1 << 20;

fn capabilities() -> Capabilities {
    Capabilities {
        patterns: vec![
            Pattern::Periodic,
            Pattern::Burst,
            Pattern::Unthrottled,
            Pattern::PingPong,
        ],
        transports: vec![],
        reliabilities: vec![Reliability::BestEffort, Reliability::Reliable],
        durabilities: vec![Durability::Volatile],
        histories: vec![HistoryKind::KeepAll, HistoryKind::KeepLast],
        congestion: vec![Congestion::Block, Congestion::Drop],
        deliveries: Deliveries {
            default: Delivery::OwnThread,
            has: vec![DeliveryDescription::new(Delivery::OwnThread, "", "")],
            lacks: vec![],
        },
        matching: None,
        largest_message_bytes: LARGEST,
        serialisations: Vec::new(),
        zero_copy: false,
        same_process: true,
        security: vec![],
        lacking_security: vec![],
        lacking_pause: None,
        between_hosts: true,
    }
}

fn sound() -> Value {
    let endpoint = json!({"application": "a", "address": "127.0.0.1"});
    let recorded = json!({"offsets_ns": [0, 5], "sizes_bytes": [32, 64], "period_ns": 10});
    let stream = |name: &str, pattern: Value| {
        json!({
            "name": name, "size_bytes": 64, "publishers": [endpoint], "subscribers": [endpoint], "pattern": pattern,
            "qos": Qos::RELIABLE,
        })
    };
    let fixed = json!({"kind": "periodic", "rate_hz": 10.0, "arrival": {"kind": "fixed"}});
    let mut replayed = stream("r", fixed);
    replayed["recorded"] = recorded;
    let ping_pong = json!({
        "kind": "ping_pong", "approach_hz": 1.0, "answer_bytes": 64, "interval_ns": 0, "patience_ns": 1, "messages": null,
    });
    json!({
        "contract_version": CONTRACT_VERSION, "application": "a", "delivery": "own_thread", "address": "127.0.0.1",
        "interface": "lo",
        "rendezvous": {"name": "m", "token": 1, "domain": 0, "first_port": 1000, "ports": 100, "folder": "/"},
        "services": [], "profile": "default", "options": {}, "clock_offset_ns": 0, "verify": false,
        "streams": [replayed, stream("p", ping_pong)],
        "endpoints": [{"stream": "r", "role": "publisher", "index": 0}],
        "recording": {"samples": 0, "messages": 0, "late_after_ns": 0, "folder": "/"},
        "placement": {"cpus": [], "scheduling": {"kind": "other"}, "spin_ns": 0},
    })
}

/// The paths of all values in one.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| pointers(item, &format!("{at}/{index}"), found)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, field)| pointers(field, &format!("{at}/{name}"), found)),
        _ => {}
    }
}

fn other() -> impl Strategy<Value = Value> {
    const EDGES: [u64; 11] = [0, 1, 31, 32, 33, 64, 65_535, 65_536, LARGEST, LARGEST + 1, u64::MAX];
    prop_oneof![
        4 => select(&EDGES[..]).prop_map(Value::from).boxed(),
        1 => any::<i64>().prop_map(Value::from).boxed(),
        1 => any::<f64>().prop_map(Value::from).boxed(),
        1 => select(vec![json!(null), json!([]), json!({}), json!(""), json!("a/../b"), json!([0]), json!([64, 64])]).boxed(),
    ]
}

proptest! {
    #[test]
    fn whatever_spec_comes_is_refused_or_its_channels_can_be_served(
        changes in vec((any::<Index>(), other()), 0..4), sequence in any::<u32>(), begun in vec(any::<u8>(), 0..64),
    ) {
        let mut spec = sound();
        for (place, value) in changes {
            let mut places = Vec::new();
            pointers(&spec, "", &mut places);
            *spec.pointer_mut(&places[place.index(places.len())]).expect("it is one of its places") = value;
        }
        let Ok(spec) = serde_json::from_str::<ApplicationSpec>(&spec.to_string()) else { return Ok(()) };
        if accept(&spec, &capabilities()).is_err() {
            return Ok(());
        }
        for holders in [PortHolders::Endpoints, PortHolders::Applications, PortHolders::Nothing] {
            let Ok(channels) = Channel::of(&spec, holders) else { continue };
            for channel in &channels {
                let largest = channel.size_bytes;
                prop_assert!((HEADER_BYTES..=LARGEST as usize).contains(&largest));
                prop_assert!(channel.bytes_of(&begun).is_none_or(|bytes| (HEADER_BYTES..=largest).contains(&bytes)));
                if let Some(recorded) = &channel.recorded {
                    let _ = recorded.offset_ns(u64::from(sequence));
                }
                prop_assert!(channel.queued_messages() >= 1 || channel.queued_bytes() < largest);
            }
        }
    }

    #[test]
    fn whatever_line_comes_is_a_command_or_nonsense(line in "[{}\\[\\]:,\"a-z_0-9. -]{0,60}") {
        let _ = serde_json::from_str::<ApplicationCommand>(&line);
        let _ = serde_json::from_str::<ServiceCommand>(&line);
    }
}
