//! The services that a variant of a worker needs, started and stopped through the worker's own `service` command.
//!
//! Which they are is read from the description; nothing here knows a broker from a router.

use anyhow::{Result, bail, ensure};
use middlemark_contract::{CONTRACT_VERSION, ServiceAddress, ServiceCommand, ServiceEvent, ServiceNeed, ServiceSpec};

use crate::application::Refused;
use crate::checks::Case;
use crate::place::{ADDRESS, INTERFACE, Place};
use crate::process::Process;
use crate::request::anywhere;

/// The running services of a trial.
pub(crate) struct Services {
    pub(crate) addresses: Vec<ServiceAddress>,
    pub(crate) processes: Vec<Process>,
}

impl Services {
    /// Starts every service that the case's options call for.
    pub(crate) fn start(case: &Case, place: &Place) -> Result<Services> {
        let addresses = addresses(case);
        let mut processes = Vec::new();
        for address in &addresses {
            let mut process = spawn(case, &spec(case, place, &addresses, &address.service))?;
            wait_ready(&mut process)?;
            processes.push(process);
        }
        Ok(Services { addresses, processes })
    }

    /// Stops them all, each with `closed` and exit status 0.
    pub(crate) fn stop(&mut self) -> Result<()> {
        for process in &mut self.processes {
            process.say(&ServiceCommand::Stop)?;
            match process.next("closed")? {
                ServiceEvent::Closed => {}
                event => return Err(process.failure(&format!("said {event:?} instead of closed"))),
            }
            let status = process.wait("its end after closed")?;
            ensure!(
                status.success(),
                process.failure(&format!("ended with {status} after closed"))
            );
        }
        Ok(())
    }
}

/// Where the services that a case needs run.
pub(crate) fn addresses(case: &Case) -> Vec<ServiceAddress> {
    needed(case)
        .map(|need| ServiceAddress {
            service: need.service.clone(),
            index: 0,
            address: ADDRESS,
        })
        .collect()
}

/// The needs whose conditions hold.
pub(crate) fn needed(case: &Case) -> impl Iterator<Item = &ServiceNeed> {
    let options = case.worker.options(&case.variant);
    case.worker.description.services.iter().filter(move |need| {
        need.when.iter().all(|when| {
            options
                .get(&when.option)
                .is_some_and(|value| when.values.contains(value))
        })
    })
}

/// The spec of one service.
pub(crate) fn spec(case: &Case, place: &Place, services: &[ServiceAddress], service: &str) -> ServiceSpec {
    ServiceSpec {
        contract_version: CONTRACT_VERSION,
        service: service.into(),
        index: 0,
        address: ADDRESS,
        interface: INTERFACE.into(),
        rendezvous: place.rendezvous.clone(),
        services: services.to_vec(),
        profile: case.variant.profile().into(),
        options: case.variant.options(),
        largest_message_bytes: case.worker.description.capabilities.largest_message_bytes.min(16 << 20),
        placement: anywhere(),
    }
}

/// Starts a service's process and gives it its spec.
pub(crate) fn spawn(case: &Case, spec: &ServiceSpec) -> Result<Process> {
    let name = format!("{} service {}", case.worker.name, spec.service);
    let mut process = case.worker.spawn("service", &name)?;
    process.say(spec)?;
    Ok(process)
}

/// Waits until it accepts applications.
pub(crate) fn wait_ready(process: &mut Process) -> Result<()> {
    match process.next("ready")? {
        ServiceEvent::Ready { version, .. } => {
            ensure!(!version.is_empty(), process.failure("is ready without a version"));
            Ok(())
        }
        ServiceEvent::Refused(refusal) => Err(Refused(refusal).into()),
        ServiceEvent::Failed { doing, causes } => {
            bail!(process.failure(&format!("failed {doing}: {}", causes.join(": "))))
        }
        event => Err(process.failure(&format!("said {event:?} instead of ready"))),
    }
}
