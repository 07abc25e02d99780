//! The rules of who may publish and read which topic, in Mosquitto's `acl_file`.

use middlemark_contract::{CredentialsRequest, Endpoint, PatternSpec, Role, StreamSpec};
use middlemark_runtime::Channel;

use crate::credentials::broker_user;
use crate::exchange;

/// Those of a trial: an application has the topics of its own endpoints, and a linked broker has all, as it passes on what
/// others let in; and those under which bridges tell their state, as one that may not is disconnected.
pub(super) fn of(request: &CredentialsRequest) -> String {
    let mut rules = String::new();
    for application in &request.applications {
        let allowed = allowed(&application.endpoints, request);
        rules.extend(["user ", &application.application, "\n", &allowed]);
    }
    for service in &request.services {
        let all = "\ntopic readwrite #\ntopic readwrite $SYS/broker/connection/#\n";
        rules.extend(["user ", &broker_user(service.index), all]);
    }
    rules
}

/// The rules of one user: the topics of its endpoints, in their own role; answers go the other way.
fn allowed(endpoints: &[Endpoint], request: &CredentialsRequest) -> String {
    let mut rules = String::new();
    for endpoint in endpoints {
        let streams = request.streams.iter().enumerate();
        for (position, stream) in streams.filter(|(_, stream)| stream.name == endpoint.stream) {
            let (there, back) = match endpoint.role {
                Role::Publisher => ("write", "read"),
                Role::Subscriber => ("read", "write"),
            };
            let topics = Channel::topics(&request.rendezvous, position, &stream.name);
            let (messages, answers) = topics_of(endpoint, stream, topics);
            rules.extend(["topic ", there, " ", &messages, "\n"]);
            rules.extend(answers.iter().flat_map(|answers| ["topic ", back, " ", answers, "\n"]));
        }
    }
    rules
}

/// The topic of an endpoint's messages or requests, and of the answers to them where there are any.
fn topics_of(endpoint: &Endpoint, stream: &StreamSpec, [messages, answers]: [String; 2]) -> (String, Option<String>) {
    let servers = stream.subscribers.len().max(1) as u16;
    match (&stream.pattern, endpoint.role) {
        (PatternSpec::RequestResponse { .. }, Role::Publisher) => (
            exchange::requests_topic(&messages, endpoint.index % servers),
            Some(exchange::responses_topic(&answers, endpoint.index)),
        ),
        (PatternSpec::RequestResponse { .. }, Role::Subscriber) => (
            exchange::requests_topic(&messages, endpoint.index),
            Some(exchange::all_responses_topics(&answers)),
        ),
        (PatternSpec::PingPong { .. }, _) => (messages, Some(answers)),
        _ => (messages, None),
    }
}
