//! What each process may do, and where a level can't be had.

use middlemark_contract::{CONTRACT_VERSION, CredentialsRequest, CredentialsSet};

use super::*;

fn options(set: &[(&str, &str)]) -> Options {
    let set = set
        .iter()
        .map(|(name, value)| ((*name).to_owned(), OptionValue::Text((*value).to_owned())));
    Options::resolve(&description::describe(), "default", &set.collect()).unwrap()
}

/// Of a publisher and a subscriber of stream `imu`, a client and a server of stream `map`.
fn request(level: SecurityLevel, address: &str, routers: u16) -> CredentialsRequest {
    let endpoint = |application: &str| json!({"application": application, "address": address});
    let stream = |name: &str, pattern: Value, publisher: &str, subscriber: &str| {
        json!({
            "name": name, "size_bytes": 64, "pattern": pattern, "qos": middlemark_contract::Qos::RELIABLE,
            "publishers": [endpoint(publisher)], "subscribers": [endpoint(subscriber)],
        })
    };
    let application = |name: &str, stream: &str, role: &str| {
        let endpoint = json!({"stream": stream, "role": role, "index": 0});
        json!({"application": name, "addresses": [address], "endpoints": [endpoint]})
    };
    let service = |index| json!({"service": "router", "index": index, "addresses": [address]});
    let requests = json!({
        "kind": "request_response", "pace": {"kind": "closed", "approach_hz": 1.0}, "response_bytes": 64, "outstanding": 1,
        "timeout_ns": 1, "server_time": {"kind": "constant", "time_ns": 0}, "seed": 1,
    });
    let periodic = json!({"kind": "periodic", "rate_hz": 1.0, "arrival": {"kind": "fixed"}});
    serde_json::from_value(json!({
        "contract_version": CONTRACT_VERSION, "level": level, "profile": "default", "options": {},
        "rendezvous": {"name": "t", "token": 1, "domain": 0, "first_port": 1, "ports": 1, "folder": "/"},
        "streams": [stream("imu", periodic, "sender", "taker"), stream("map", requests, "asker", "answerer")],
        "services": (0..routers).map(service).collect::<Vec<_>>(),
        "applications": [
            application("sender", "imu", "publisher"), application("taker", "imu", "subscriber"),
            application("asker", "map", "publisher"), application("answerer", "map", "subscriber"),
        ],
    }))
    .unwrap()
}

/// The rules of somebody, as `flow message key`.
fn allowed(access_control: &Value, name: &str) -> Vec<String> {
    let list = |value: &Value| value.as_array().unwrap().clone();
    let mut policies = list(&access_control["policies"]).into_iter();
    let ids = policies.find(|policy| policy["subjects"] == json!([name])).unwrap()["rules"].clone();
    let rules = list(&access_control["rules"]).into_iter();
    let own = rules.filter(|rule| list(&ids).contains(&rule["id"]));
    let text = |value: &Value| {
        list(value)
            .iter()
            .map(|each| each.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    own.map(|rule| {
        let [flows, messages, keys] = ["flows", "messages", "key_exprs"].map(|list| text(&rule[list]).join("+"));
        format!("{flows} {messages} {keys}")
    })
    .collect()
}

fn of_router(set: &CredentialsSet) -> Value {
    serde_json::from_str(set.services[0].files.text(RULES).unwrap()).unwrap()
}

#[test]
fn each_may_do_what_its_own_endpoint_is_for() {
    let set = made(
        &request(SecurityLevel::Encrypted, "127.0.0.1", 1),
        &options(&[("transport", "quic")]),
    )
    .unwrap();
    let rules = of_router(&set);
    assert_eq!(
        allowed(&rules, "sender"),
        ["egress declare_subscriber t_0_imu", "ingress put t_0_imu"]
    );
    assert_eq!(
        allowed(&rules, "taker"),
        ["egress put t_0_imu", "ingress declare_subscriber t_0_imu"]
    );
    assert_eq!(
        allowed(&rules, "asker"),
        [
            "egress declare_queryable t_2_map_0",
            "egress reply t_2_map_0",
            "ingress query t_2_map_0"
        ]
    );
    assert_eq!(
        allowed(&rules, "answerer"),
        [
            "egress query t_2_map_0",
            "ingress declare_queryable t_2_map_0",
            "ingress reply t_2_map_0"
        ]
    );
    assert_eq!(
        allowed(&rules, "router-0"),
        ["ingress+egress put+delete+declare_subscriber+query+reply+declare_queryable **"]
    );
    assert_eq!(rules["default_permission"], "deny");
    assert_eq!(
        rules["subjects"][0],
        json!({"id": "sender", "cert_common_names": ["sender"]})
    );
}

#[test]
fn zenoh_takes_the_rules_and_the_certificates_from_memory() {
    let set = made(
        &request(SecurityLevel::Encrypted, "127.0.0.1", 1),
        &options(&[("transport", "quic")]),
    )
    .unwrap();
    let told = encrypted(&set.services[0].files, "tls").unwrap();
    let mut config = zenoh::Config::default();
    for (key, value) in told.keys.iter().chain(&told.secrets) {
        config.insert_json5(key, &value.to_string()).unwrap();
    }
    let text = config.to_string();
    assert!(text.contains("\"router-0\""), "{text}");
    let secret = told.secrets[2].1.as_str().unwrap();
    assert!(!text.contains(secret), "Zenoh shows a key");
}

#[test]
fn a_password_is_the_applications_alone_and_its_router_knows_them_all() {
    let client = options(&[("mode", "client")]);
    let set = made(&request(SecurityLevel::Authenticated, "127.0.0.1", 1), &client).unwrap();
    let own = set.applications["sender"].text(PASSWORD).unwrap();
    let known = set.services[0].files.text(PASSWORDS).unwrap();
    assert!(known.lines().any(|line| line == format!("sender:{own}")));
    assert_eq!(known.lines().count(), 4);
    assert!(!format!("{:?}", set.applications["taker"]).contains(PASSWORDS));
    assert_eq!(
        of_router(&set)["subjects"][0],
        json!({"id": "sender", "usernames": ["sender"]})
    );
}

#[test]
fn a_level_that_cannot_be_had_is_refused_with_the_reason() {
    let reason =
        |level, address, routers, set: &[(&str, &str)]| match made(&request(level, address, routers), &options(set)) {
            Err(middlemark_runtime::CredentialsError::Refused(refusal)) => {
                assert_eq!(refusal.capability, "security");
                refusal.reason
            }
            other => panic!("{other:?}"),
        };
    let authenticated = |routers, set| reason(SecurityLevel::Authenticated, "127.0.0.1", routers, set);
    assert!(authenticated(0, &[]).contains("between peers"));
    assert!(authenticated(2, &[("mode", "client")]).contains("linked routers"));
    assert!(authenticated(1, &[("mode", "client"), ("transport", "quic")]).contains("'quic' always encrypts"));
    let encrypted = |address, set| reason(SecurityLevel::Encrypted, address, 0, set);
    assert!(encrypted("127.0.0.1", &[("transport", "udp")]).contains("allowed: tcp, quic"));
    assert!(encrypted("::1", &[("transport", "quic")]).contains("IPv6"));
    assert!(encrypted("127.0.0.1", &[]).contains("both ways"));
    assert!(accept(None, &options(&[("transport", "quic")]), &[]).is_err());
}

#[test]
fn what_is_encrypted_does_not_lie_in_shared_memory() {
    let given = Options::resolve(&description::describe(), "tuned", &BTreeMap::new()).unwrap();
    let of = |level| kept(level, &given, "tuned", &BTreeMap::new()).unwrap();
    assert!(of(Some(SecurityLevel::Authenticated)).boolean("zero_copy"));
    let encrypted = of(Some(SecurityLevel::Encrypted));
    assert!(!encrypted.boolean("zero_copy") && !encrypted.boolean("shared_memory"));
}
