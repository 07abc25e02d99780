//! The credentials of a trial, as the worker's own command makes them, and who is given which.

use anyhow::{Result, bail, ensure};
use middlemark_contract::{
    CONTRACT_VERSION, CredentialsEvent, CredentialsRequest, CredentialsSet, SecuredApplication, SecuredService,
    Security, SecurityLevel, ServiceAddress,
};

use crate::application::Refused;
use crate::case::Case;
use crate::place::{ADDRESS, Place};
use crate::request::Request;

/// What one call of `credentials` made.
pub(crate) struct Credentials {
    pub(crate) level: SecurityLevel,
    set: CredentialsSet,
}

impl Credentials {
    /// For every application of a request, and these services.
    pub(crate) fn made(
        case: &Case,
        place: &Place,
        request: &Request,
        services: &[ServiceAddress],
        level: SecurityLevel,
    ) -> Result<Credentials> {
        let applications = request
            .applications()
            .into_iter()
            .map(|application| SecuredApplication {
                addresses: vec![ADDRESS],
                endpoints: request.held_by(&application),
                application,
            });
        let services = services.iter().map(|service| SecuredService {
            service: service.service.clone(),
            index: service.index,
            addresses: vec![ADDRESS],
        });
        let asked = CredentialsRequest {
            contract_version: CONTRACT_VERSION,
            level,
            rendezvous: place.rendezvous.clone(),
            profile: case.variant.profile().into(),
            options: case.worker.set_by_spec(&case.variant),
            streams: request.streams.clone(),
            applications: applications.collect(),
            services: services.collect(),
        };
        let mut process = case
            .worker
            .spawn("credentials", &format!("{} credentials", case.worker.name))?;
        process.say(&asked)?;
        let set = match process.next("the credentials")? {
            CredentialsEvent::Made(set) => set,
            CredentialsEvent::Refused(refusal) => return Err(Refused(refusal).into()),
            CredentialsEvent::Failed { doing, causes } => {
                bail!(process.failure(&format!("failed {doing}: {}", causes.join(": "))))
            }
        };
        ensure!(
            process.wait("the end of credentials")?.success(),
            process.failure("made credentials and ended with another status than 0")
        );
        ensure!(!set.stated.is_empty(), "how the credentials were made is not stated");
        Ok(Credentials { level, set })
    }

    /// The name and the text of every file that was made.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let services = self.set.services.iter().map(|service| &service.files);
        let all = self.set.applications.values().chain(services);
        all.flat_map(|files| &files.0)
            .map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// What an application is given.
    pub(crate) fn of(&self, application: &str) -> Result<Security> {
        match self.set.applications.get(application) {
            None => bail!("no credentials were made for {application}"),
            Some(files) => Ok(Security {
                level: self.level,
                files: files.clone(),
            }),
        }
    }

    /// What a service is given; none where none was made, which the service then has to refuse.
    pub(crate) fn of_service(&self, address: &ServiceAddress) -> Option<Security> {
        let of = self.set.services.iter();
        let mut found = of.filter(|each| each.service == address.service && each.index == address.index);
        found.next().map(|each| Security {
            level: self.level,
            files: each.files.clone(),
        })
    }
}
