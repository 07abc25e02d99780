//! Users and passwords of a trial, and the rules of who may publish and read which topic: Mosquitto's own two files.
//!
//! Passwords are drawn anew for each trial; the broker gets only their hashes, as `mosquitto_passwd` would write them.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use middlemark_contract::{
    CredentialsRequest, CredentialsSet, Endpoint, PatternSpec, Refusal, Role, SecretFiles, Security,
    ServiceCredentials, StreamSpec,
};
use middlemark_runtime::{Channel, CredentialsError, MiddlewareError};
use ring::pbkdf2::{PBKDF2_HMAC_SHA512, derive};
use ring::rand::{SecureRandom, SystemRandom};

use crate::exchange;

/// The files of the broker.
pub(crate) const PASSWORDS: &str = "passwords";
pub(crate) const RULES: &str = "rules";
/// The file of an application, whose user has the application's name.
const PASSWORD: &str = "password";

const PASSWORD_BYTES: usize = 24;
/// As `mosquitto_passwd` has them.
const SALT_BYTES: usize = 12;
const ITERATIONS: NonZeroU32 = NonZeroU32::new(101).expect("it is not 0");

/// A password for each application, their hashes and rules for the broker.
pub(crate) fn made(request: &CredentialsRequest) -> Result<CredentialsSet, CredentialsError> {
    if request.services.len() > 1 {
        return Err(CredentialsError::Refused(Refusal {
            capability: "security".into(),
            reason: "linked brokers would need users of their own, which this worker does not make".into(),
        }));
    }
    let random = SystemRandom::new();
    let (mut applications, mut passwords, mut rules) = (BTreeMap::new(), String::new(), String::new());
    for application in &request.applications {
        let (name, password) = (
            &application.application,
            BASE64_STANDARD.encode(drawn::<PASSWORD_BYTES>(&random)?),
        );
        let hash = hashed(&password, drawn::<SALT_BYTES>(&random)?);
        passwords.extend([name, ":", &hash, "\n"]);
        rules.extend(["user ", name, "\n", &allowed(&application.endpoints, request)]);
        applications.insert(name.clone(), SecretFiles::of([(PASSWORD, password)]));
    }
    let services = request.services.iter().map(|service| ServiceCredentials {
        service: service.service.clone(),
        index: service.index,
        files: SecretFiles::of([(PASSWORDS, passwords.clone()), (RULES, rules.clone())]),
    });
    Ok(CredentialsSet {
        services: services.collect(),
        applications,
        stated: [
            ("passwords", "24 random bytes for each application; sent in the clear"),
            (
                "hashes of passwords",
                "PBKDF2 with HMAC-SHA-512, 101 iterations, 12 bytes of salt",
            ),
        ]
        .map(|(what, how)| (what.into(), how.into()))
        .into(),
    })
}

/// The password of an application's spec.
pub(crate) fn password(security: &Security) -> Result<&str, String> {
    security.files.text(PASSWORD)
}

fn drawn<const BYTES: usize>(random: &SystemRandom) -> Result<[u8; BYTES], MiddlewareError> {
    let mut bytes = [0; BYTES];
    let refused = |_| MiddlewareError::from("the system gives no random numbers");
    random.fill(&mut bytes).map(|()| bytes).map_err(refused)
}

fn hashed(password: &str, salt: [u8; SALT_BYTES]) -> String {
    let mut hash = [0; 64];
    derive(PBKDF2_HMAC_SHA512, ITERATIONS, &salt, password.as_bytes(), &mut hash);
    let encoded = |bytes: &[u8]| BASE64_STANDARD.encode(bytes);
    format!("$7${ITERATIONS}${}${}", encoded(&salt), encoded(&hash))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_hashed_as_mosquitto_passwd_does() {
        // mosquitto_passwd 2.0.11 -b, of `secret`, has this form: type, iterations, salt, hash.
        let hash = hashed("secret", [7; SALT_BYTES]);
        let parts: Vec<_> = hash.split('$').collect();
        assert_eq!(parts[..4], ["", "7", "101", "BwcHBwcHBwcHBwcH"]);
        assert_eq!(BASE64_STANDARD.decode(parts[4]).unwrap().len(), 64);
    }
}
