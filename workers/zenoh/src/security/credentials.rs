//! The credentials of a trial: a certificate for each application and router, or a password for each application.

use std::collections::BTreeMap;
use std::net::IpAddr;

use middlemark_contract::{
    CredentialsRequest, CredentialsSet, Refusal, SecretFiles, SecuredService, SecurityLevel, ServiceCredentials,
};
use middlemark_credentials::{Authority, secret, tls};
use middlemark_runtime::{CredentialsError, MiddlewareError, Options};

use crate::security::{PASSWORD, PASSWORDS, RULES, accept, refuse, rules};

/// Fresh ones for every process.
pub(crate) fn made(request: &CredentialsRequest, options: &Options) -> Result<CredentialsSet, CredentialsError> {
    accept(Some(request.level), options, &request.streams)
        .and_then(|()| accept_places(request))
        .map_err(CredentialsError::Refused)?;
    Ok(match request.level {
        SecurityLevel::Encrypted => with_certificates(request)?,
        SecurityLevel::Authenticated => with_passwords(request)?,
    })
}

/// Refuses where processes could not know each other.
fn accept_places(request: &CredentialsRequest) -> Result<(), Refusal> {
    if request.level == SecurityLevel::Authenticated {
        return if request.services.len() > 1 {
            refuse(
                "it can't be authenticated through linked routers: by Zenoh's usrpwd a router that makes a link learns no user \
                 of the one that accepts it; ask for one router, or for encrypted"
                    .into(),
            )
        } else {
            Ok(())
        };
    }
    let processes = request.applications.iter().map(|application| &application.addresses);
    let services = request.services.iter().map(|service| &service.addresses);
    let mut addresses = processes.chain(services).flatten();
    match addresses.find(|address| address.is_ipv6()) {
        None => Ok(()),
        Some(address) => refuse(format!(
            "it can't be encrypted at the address {address}: Zenoh 1.10.2 compares no certificate with an IPv6 address"
        )),
    }
}

fn with_certificates(request: &CredentialsRequest) -> Result<CredentialsSet, MiddlewareError> {
    let authority = Authority::new(&request.rendezvous.name)?;
    let rules = rules::by_certificate(request).to_string();
    let files = |name: &str, addresses: &[IpAddr]| -> Result<SecretFiles, MiddlewareError> {
        let mut files = tls::files(&authority, authority.identify(name, &[], addresses)?);
        files.0.insert(RULES.into(), rules.clone());
        Ok(files)
    };
    let applications = request.applications.iter().map(|application| {
        let name = &application.application;
        Ok((name.clone(), files(name, &application.addresses)?))
    });
    let services = request.services.iter().map(|service| {
        let files = files(&rules::router(service.index), &service.addresses)?;
        Ok(of_service(service, files))
    });
    Ok(CredentialsSet {
        applications: applications.collect::<Result<_, MiddlewareError>>()?,
        services: services.collect::<Result<_, MiddlewareError>>()?,
        stated: authority.stated(),
    })
}

fn with_passwords(request: &CredentialsRequest) -> Result<CredentialsSet, MiddlewareError> {
    let (mut applications, mut passwords) = (BTreeMap::new(), String::new());
    for application in &request.applications {
        let password = secret::password()?;
        passwords.extend([application.application.as_str(), ":", &password, "\n"]);
        let files = SecretFiles::of([(PASSWORD, password)]);
        applications.insert(application.application.clone(), files);
    }
    let rules = rules::by_user(request).to_string();
    let services = request.services.iter().map(|service| {
        let files = SecretFiles::of([(PASSWORDS, passwords.clone()), (RULES, rules.clone())]);
        of_service(service, files)
    });
    Ok(CredentialsSet {
        services: services.collect(),
        applications,
        stated: [(
            "passwords".into(),
            format!("{}; an HMAC of them is sent", secret::PASSWORDS_ARE),
        )]
        .into(),
    })
}

fn of_service(service: &SecuredService, files: SecretFiles) -> ServiceCredentials {
    ServiceCredentials {
        service: service.service.clone(),
        index: service.index,
        files,
    }
}
