//! Zenoh's access control: what may come from each process of a trial, and what may go to it.
//!
//! The rules are the same for all who judge by them, and say nothing of who judges: an application may publish where it has a
//! publisher, and gets what it has a subscriber for; a router passes on what others let in.

use std::collections::BTreeMap;

use middlemark_contract::{CredentialsRequest, Endpoint, PatternSpec, Role};
use middlemark_runtime::Channel;
use serde_json::{Value, json};

/// A direction, seen from who judges, and a kind of message.
type Passage = (&'static str, &'static str);

const PUBLISHER: &[Passage] = &[("ingress", "put"), ("egress", "declare_subscriber")];
const SUBSCRIBER: &[Passage] = &[("ingress", "declare_subscriber"), ("egress", "put")];
const CLIENT: &[Passage] = &[
    ("ingress", "query"),
    ("egress", "declare_queryable"),
    ("egress", "reply"),
];
const SERVER: &[Passage] = &[
    ("ingress", "declare_queryable"),
    ("ingress", "reply"),
    ("egress", "query"),
];

/// The name of a router in its certificate. No application has such a name, as it has a `-`.
pub(super) fn router(index: u16) -> String {
    format!("router-{index}")
}

/// For links whose ends know each other by the common names of their certificates.
pub(super) fn by_certificate(request: &CredentialsRequest) -> Value {
    let mut rules = AccessControl::of(request, "cert_common_names");
    for service in &request.services {
        rules.let_pass(
            "cert_common_names",
            &router(service.index),
            vec![json!({
                "id": router(service.index), "permission": "allow", "flows": ["ingress", "egress"], "key_exprs": ["**"],
                "messages": ["put", "delete", "declare_subscriber", "query", "reply", "declare_queryable"],
            })],
        );
    }
    rules.told()
}

/// For a router that knows its clients by their users.
pub(super) fn by_user(request: &CredentialsRequest) -> Value {
    AccessControl::of(request, "usernames").told()
}

/// Zenoh's three lists.
#[derive(Default)]
struct AccessControl {
    rules: Vec<Value>,
    subjects: Vec<Value>,
    policies: Vec<Value>,
}

impl AccessControl {
    /// Those of all applications.
    fn of(request: &CredentialsRequest, known_by: &str) -> AccessControl {
        let mut rules = AccessControl::default();
        for application in &request.applications {
            let name = &application.application;
            let own = rights(&application.endpoints, request)
                .into_iter()
                .map(|((flow, message), keys)| {
                    json!({
                        "id": format!("{name} {flow} {message}"), "permission": "allow", "flows": [flow],
                        "messages": [message], "key_exprs": keys,
                    })
                });
            rules.let_pass(known_by, name, own.collect());
        }
        rules
    }

    /// Zenoh takes no policy without rules: who has none is denied everything as a stranger is.
    fn let_pass(&mut self, known_by: &str, name: &str, rules: Vec<Value>) {
        if rules.is_empty() {
            return;
        }
        let ids: Vec<_> = rules.iter().map(|rule| rule["id"].clone()).collect();
        self.subjects.push(json!({"id": name, known_by: [name]}));
        self.policies.push(json!({"rules": ids, "subjects": [name]}));
        self.rules.extend(rules);
    }

    fn told(self) -> Value {
        json!({
            "enabled": true, "default_permission": "deny", "rules": self.rules, "subjects": self.subjects,
            "policies": self.policies,
        })
    }
}

/// The key expressions of an application's endpoints, by what may pass under them.
fn rights(endpoints: &[Endpoint], request: &CredentialsRequest) -> BTreeMap<Passage, Vec<String>> {
    let mut rights: BTreeMap<Passage, Vec<String>> = BTreeMap::new();
    let mut may = |passages: &[Passage], key: &str| {
        for passage in passages {
            rights.entry(*passage).or_default().push(key.to_owned());
        }
    };
    for endpoint in endpoints {
        let streams = request.streams.iter().enumerate();
        for (position, stream) in streams.filter(|(_, stream)| stream.name == endpoint.stream) {
            let [messages, answers] = Channel::topics(&request.rendezvous, position, &stream.name);
            let (there, back) = match endpoint.role {
                Role::Publisher => (PUBLISHER, SUBSCRIBER),
                Role::Subscriber => (SUBSCRIBER, PUBLISHER),
            };
            match (&stream.pattern, endpoint.role) {
                (PatternSpec::RequestResponse { .. }, Role::Publisher) => {
                    let servers = stream.subscribers.len().max(1) as u16;
                    may(CLIENT, &server(&messages, endpoint.index % servers));
                }
                (PatternSpec::RequestResponse { .. }, Role::Subscriber) => {
                    may(SERVER, &server(&messages, endpoint.index));
                }
                (PatternSpec::PingPong { .. }, _) => {
                    may(there, &messages);
                    may(back, &answers);
                }
                _ => may(there, &messages),
            }
        }
    }
    rights
}

/// The name of an exchange, by the topic of its requests.
fn server(requests: &str, index: u16) -> String {
    format!("{requests}_{index}")
}
