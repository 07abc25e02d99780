//! The certificates of a trial over TLS: one for each application, which names the channels that it may use, and how.
//!
//! Who is at the other end is judged by these names alone, so that an application can't act for another of its own trial.

use middlemark_contract::{CredentialsRequest, CredentialsSet, Endpoint, PatternSpec, Role};
use middlemark_credentials::{Authority, tls};
use middlemark_runtime::MiddlewareError;

/// Fresh ones for every application.
pub(crate) fn made(request: &CredentialsRequest) -> Result<CredentialsSet, MiddlewareError> {
    let authority = Authority::new(&request.rendezvous.name)?;
    let applications = request.applications.iter().map(|application| {
        let names: Vec<_> = rights(&application.endpoints, request).collect();
        let identity = authority.identify(&application.application, &names, &[])?;
        Ok((application.application.clone(), tls::files(&authority, identity)))
    });
    Ok(CredentialsSet {
        applications: applications.collect::<Result<_, MiddlewareError>>()?,
        services: Vec::new(),
        stated: authority.stated(),
    })
}

/// The name of who may act so on a channel.
pub(super) fn right(role: Role, channel: u16) -> String {
    match role {
        Role::Publisher => format!("publisher-{channel}.trial"),
        Role::Subscriber => format!("subscriber-{channel}.trial"),
    }
}

/// Stream k is channel 2k; its answers are 2k + 1, and go the other way.
fn rights<'a>(endpoints: &'a [Endpoint], request: &'a CredentialsRequest) -> impl Iterator<Item = String> + 'a {
    endpoints
        .iter()
        .flat_map(|endpoint| {
            let streams = (0..).zip(&request.streams);
            let held = streams.filter(|(_, stream)| stream.name == endpoint.stream);
            held.flat_map(|(position, stream)| {
                let is_answered = matches!(stream.pattern, PatternSpec::PingPong { .. });
                let there = right(endpoint.role, 2 * position);
                let back = match endpoint.role {
                    Role::Publisher => Role::Subscriber,
                    Role::Subscriber => Role::Publisher,
                };
                [Some(there), is_answered.then(|| right(back, 2 * position + 1))]
            })
        })
        .flatten()
}
