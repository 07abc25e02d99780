//! The services that a variant of a worker needs, started and stopped through the worker's own `service` command.
//!
//! Which they are is read from the description; nothing here knows a broker from a router.

use anyhow::{Result, bail, ensure};
use middlemark_contract::{
    CONTRACT_VERSION, Congestion, Qos, Security, ServiceAddress, ServiceCommand, ServiceEvent, ServiceNeed, ServiceSpec,
};

use crate::application::Refused;
use crate::case::Case;
use crate::place::{ADDRESS, INTERFACE, Place};
use crate::process::Process;
use crate::request::anywhere;
use crate::worker::Variant;

/// The running services of a trial.
pub(crate) struct Services {
    addresses: Vec<ServiceAddress>,
    /// Whether they are several of one kind, linked in a chain, of which each application reaches one alone.
    linked: bool,
    pub(crate) processes: Vec<Process>,
}

impl Services {
    /// Starts every service that the case's options call for.
    pub(crate) fn start(case: &Case, place: &Place) -> Result<Services> {
        Services::start_secured(case, place, |_| None)
    }

    /// The same, each with what it is given to keep strangers out with.
    pub(crate) fn start_secured(
        case: &Case,
        place: &Place,
        security: impl Fn(&ServiceAddress) -> Option<Security>,
    ) -> Result<Services> {
        let addresses = addresses(case);
        let mut processes = Vec::new();
        for address in &addresses {
            let spec = ServiceSpec {
                security: security(address),
                ..spec(case, place, &address.service)
            };
            processes.push(start(case, &spec)?);
        }
        Ok(Services {
            addresses,
            linked: false,
            processes,
        })
    }

    /// Starts those of a chain, each linked with the one before it and the one behind it, and with what it is given to keep
    /// strangers out with.
    pub(crate) fn start_chain(
        case: &Case,
        place: &Place,
        addresses: Vec<ServiceAddress>,
        security: impl Fn(&ServiceAddress) -> Option<Security>,
    ) -> Result<Services> {
        let mut processes = Vec::new();
        for own in &addresses {
            let neighbours = addresses.iter().filter(|other| other.index.abs_diff(own.index) == 1);
            let spec = ServiceSpec {
                index: own.index,
                services: neighbours.cloned().collect(),
                security: security(own),
                ..spec(case, place, &own.service)
            };
            processes.push(start(case, &spec)?);
        }
        Ok(Services {
            addresses,
            linked: true,
            processes,
        })
    }

    /// The services that the application of this number reaches.
    pub(crate) fn reached_by(&self, number: usize) -> &[ServiceAddress] {
        if self.linked {
            &self.addresses[number..=number]
        } else {
            &self.addresses
        }
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
    needed(case).map(|need| address(&need.service, 0)).collect()
}

/// So many services of one kind.
pub(crate) fn chain(service: &str, count: u16) -> Vec<ServiceAddress> {
    (0..count).map(|index| address(service, index)).collect()
}

/// The worker with the options under which a service is called for, and those of the case beside.
pub(crate) fn calling_for(case: &Case, need: &ServiceNeed) -> Case {
    let conditions = need.when.iter();
    let called = conditions.filter_map(|when| Some((when.option.clone(), when.values.first()?.clone())));
    let mut options = case.variant.options();
    options.extend(called);
    Case {
        variant: Variant::Changed {
            profile: case.variant.profile().into(),
            options,
        },
        ..case.clone()
    }
}

fn address(service: &str, index: u16) -> ServiceAddress {
    ServiceAddress {
        service: service.into(),
        index,
        address: ADDRESS,
    }
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

/// The spec of one service that is linked with none.
pub(crate) fn spec(case: &Case, place: &Place, service: &str) -> ServiceSpec {
    let capabilities = &case.worker.description.capabilities;
    ServiceSpec {
        contract_version: CONTRACT_VERSION,
        service: service.into(),
        index: 0,
        addresses: vec![ADDRESS],
        interface: INTERFACE.into(),
        rendezvous: place.rendezvous.clone(),
        services: Vec::new(),
        profile: case.variant.profile().into(),
        options: case.worker.set_by_spec(&case.variant),
        clock_offset_ns: 0,
        largest_message_bytes: capabilities.largest_message_bytes.min(16 << 20),
        queue_bytes: 64 << 20,
        // Some request of every worker that can hold a publisher back does so.
        congestion: if capabilities.congestion.contains(&Congestion::Block) {
            Congestion::Block
        } else {
            Congestion::Drop
        },
        patience_ns: Qos::RELIABLE.patience_ns,
        placement: anywhere(),
        security: None,
    }
}

fn start(case: &Case, spec: &ServiceSpec) -> Result<Process> {
    let mut process = spawn(case, spec)?;
    wait_ready(&mut process)?;
    Ok(process)
}

/// Starts a service's process and gives it its spec.
pub(crate) fn spawn(case: &Case, spec: &ServiceSpec) -> Result<Process> {
    let name = format!("{} service {} {}", case.worker.name, spec.service, spec.index);
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
