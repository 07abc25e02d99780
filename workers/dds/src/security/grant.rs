//! Which topics an application may publish on and subscribe to: those of its endpoints, in their roles.

use middlemark_contract::{CredentialsRequest, PatternSpec, Role, SecuredApplication};
use middlemark_runtime::Channel;

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
            let own = |role| {
                let mut endpoints = application.endpoints.iter();
                endpoints.any(|endpoint| endpoint.stream == stream.name && endpoint.role == role)
            };
            let answers = matches!(stream.pattern, PatternSpec::PingPong { .. });
            let [messages, answered] = Channel::topics(&request.rendezvous, position, &stream.name);
            if own(Role::Publisher) {
                grant.publishes.push(messages.clone());
                grant.subscribes.extend(answers.then(|| answered.clone()));
            }
            if own(Role::Subscriber) {
                grant.subscribes.push(messages);
                grant.publishes.extend(answers.then_some(answered));
            }
        }
        grant
    }
}
