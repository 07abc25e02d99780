//! What applications and brokers of a trial prove with who they are, and Mosquitto's rules of who may publish and read which
//! topic: users with passwords, or certificates whose common names are the users.
//!
//! `passwords` and `rules` write Mosquitto's own two files; where the broker finds them is for `configuration` to say.

mod passwords;
mod rules;

use std::collections::BTreeMap;

use middlemark_contract::{
    CredentialsRequest, CredentialsSet, Refusal, SecretFiles, Security, SecurityLevel, ServiceCredentials,
};
use middlemark_credentials::{Authority, secret, tls};
use middlemark_runtime::{CredentialsError, MiddlewareError, Options};

/// The files of the broker.
pub(crate) const PASSWORDS: &str = "passwords";
pub(crate) const RULES: &str = "rules";
/// The file of an application, whose user has the application's name, and of a broker, as a user of another.
const PASSWORD: &str = "password";

/// Fresh ones for every application and every broker.
pub(crate) fn made(request: &CredentialsRequest, options: &Options) -> Result<CredentialsSet, CredentialsError> {
    accept(Some(request.level), options).map_err(CredentialsError::Refused)?;
    Ok(match request.level {
        SecurityLevel::Authenticated => with_passwords(request)?,
        SecurityLevel::Encrypted => with_certificates(request)?,
    })
}

/// Refuses what can't be encrypted.
pub(crate) fn accept(level: Option<SecurityLevel>, options: &Options) -> Result<(), Refusal> {
    if level == Some(SecurityLevel::Encrypted) && options.text("transport") == "unix" {
        return Err(Refusal {
            capability: "security".into(),
            reason: "rumqttc speaks no TLS over a Unix socket; encrypted is there over transport 'tcp'".into(),
        });
    }
    Ok(())
}

/// The user that a broker is for another one that it is linked with. No application has such a name, as it has a `-`.
pub(crate) fn broker_user(index: u16) -> String {
    format!("broker-{index}")
}

/// The password of a process, where it needs one.
pub(crate) fn password(security: &Security) -> Result<Option<&str>, String> {
    match security.level {
        SecurityLevel::Authenticated => security.files.text(PASSWORD).map(Some),
        SecurityLevel::Encrypted => Ok(None),
    }
}

fn with_passwords(request: &CredentialsRequest) -> Result<CredentialsSet, MiddlewareError> {
    let (mut own, mut hashes) = (BTreeMap::new(), String::new());
    for user in users(request) {
        let password = secret::password()?;
        hashes += &passwords::line(&user, &password)?;
        own.insert(user, password);
    }
    let stated = [
        ("passwords", format!("{}; sent in the clear", secret::PASSWORDS_ARE)),
        ("hashes of passwords", passwords::HASHES.into()),
    ];
    set(
        request,
        stated.map(|(what, how)| (what.into(), how)).into(),
        |user, rules| {
            let password = (PASSWORD, own[user].clone());
            Ok(match rules {
                None => SecretFiles::of([password]),
                Some(rules) => SecretFiles::of([password, (PASSWORDS, hashes.clone()), (RULES, rules)]),
            })
        },
    )
}

fn with_certificates(request: &CredentialsRequest) -> Result<CredentialsSet, MiddlewareError> {
    let authority = Authority::new(&request.rendezvous.name)?;
    set(request, authority.stated(), |user, rules| {
        let of_broker = |index| broker_user(index) == user;
        let broker = request.services.iter().find(|service| of_broker(service.index));
        let addresses = broker.map_or(&[][..], |broker| &broker.addresses);
        let mut files = tls::files(&authority, authority.identify(user, &[], addresses)?);
        files.0.extend(rules.map(|rules| (RULES.to_owned(), rules)));
        Ok(files)
    })
}

/// Every user of the trial's brokers.
fn users(request: &CredentialsRequest) -> impl Iterator<Item = String> {
    let applications = request.applications.iter();
    let brokers = request.services.iter().map(|service| broker_user(service.index));
    applications
        .map(|application| application.application.clone())
        .chain(brokers)
}

/// The files of every user, of a broker with the rules.
fn set(
    request: &CredentialsRequest,
    stated: BTreeMap<String, String>,
    files: impl Fn(&str, Option<String>) -> Result<SecretFiles, MiddlewareError>,
) -> Result<CredentialsSet, MiddlewareError> {
    let applications = request.applications.iter().map(|application| {
        let name = &application.application;
        Ok((name.clone(), files(name, None)?))
    });
    let rules = rules::of(request);
    let services = request.services.iter().map(|service| {
        Ok(ServiceCredentials {
            service: service.service.clone(),
            index: service.index,
            files: files(&broker_user(service.index), Some(rules.clone()))?,
        })
    });
    Ok(CredentialsSet {
        applications: applications.collect::<Result<_, MiddlewareError>>()?,
        services: services.collect::<Result<_, MiddlewareError>>()?,
        stated,
    })
}
