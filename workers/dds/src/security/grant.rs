//! Which topics an application may publish on and subscribe to: those of its endpoints, in their roles.

use middlemark_contract::{CredentialsRequest, Endpoint, PatternSpec, Role, SecuredApplication, StreamSpec};
use middlemark_runtime::Channel;

use crate::exchange;

/// What one application may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) application: String,
    pub(super) publishes: Vec<String>,
    pub(super) subscribes: Vec<String>,
}

impl Grant {
    pub(super) fn of(application: &SecuredApplication, request: &CredentialsRequest) -> Grant {
        let mut grant = Grant {
            application: application.application.clone(),
            publishes: Vec::new(),
            subscribes: Vec::new(),
        };
        for (position, stream) in request.streams.iter().enumerate() {
            let own = application.endpoints.iter();
            for endpoint in own.filter(|endpoint| endpoint.stream == stream.name) {
                let topics = Channel::topics(&request.rendezvous, position, &stream.name);
                let (messages, answers) = topics_of(endpoint, stream, topics);
                let (there, back) = match endpoint.role {
                    Role::Publisher => (&mut grant.publishes, &mut grant.subscribes),
                    Role::Subscriber => (&mut grant.subscribes, &mut grant.publishes),
                };
                add(there, messages);
                if let Some(topic) = answers {
                    add(back, topic);
                }
            }
        }
        grant
    }
}

/// The topic of an endpoint's messages or requests, and of the answers to them where there are any.
fn topics_of(endpoint: &Endpoint, stream: &StreamSpec, [messages, answers]: [String; 2]) -> (String, Option<String>) {
    match stream.pattern {
        PatternSpec::RequestResponse { .. } => {
            let servers = stream.subscribers.len().max(1) as u16;
            let [requests, responses] = exchange::topics(&messages, endpoint.index % servers);
            (requests, Some(responses))
        }
        PatternSpec::PingPong { .. } => (messages, Some(answers)),
        _ => (messages, None),
    }
}

/// Several endpoints of an application may have one topic.
fn add(topics: &mut Vec<String>, topic: String) {
    if !topics.contains(&topic) {
        topics.push(topic);
    }
}
