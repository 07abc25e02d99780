//! The worker for vSomeIP: each publisher is a SOME/IP service with one event, each subscriber requests all of them; each server
//! is a service with one method, and with the option `one_way` so is the subscriber of each publisher.
//!
//! Applications of one host speak over Unix sockets, set up by the host's routing manager, which runs as a service of its
//! own; between hosts the routing managers carry the events over TCP, UDP or SOME/IP-TP and find each other by service
//! discovery. `carriage` decides the way, `discovery` where they look for each other, `configuration` renders vSomeIP's JSON,
//! `shim` is the library behind plain C.

mod carriage;
mod configuration;
mod description;
mod discovery;
mod profiles;
mod routing_manager;
mod session;
mod shim;

use std::process::ExitCode;

use middlemark_contract::{
    ApplicationSpec, CredentialsRequest, CredentialsSet, Description, PortHolders, Refusal, ServiceSpec,
};
use middlemark_runtime::{
    Channel, Context, CredentialsError, Middleware, MiddlewareError, Options, Service, Session, user,
};

fn main() -> ExitCode {
    middlemark_runtime::run(&Vsomeip)
}

/// Each publisher and each server (the publisher of its responses) is a service, which has a port of its own.
const PORTS: PortHolders = PortHolders::Publishers;

struct Vsomeip;

impl Middleware for Vsomeip {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
        configuration::accept_folder(&spec.rendezvous, spec.address)?;
        discovery::accept(spec, options)?;
        if spec.security.is_some() && carriage::is_between_hosts(spec) {
            return Err(configuration::policy::refusal());
        }
        spec.require_bounded_floods("vSomeIP's notify never waits for a slower subscriber, it queues what comes")?;
        carriage::accept_calls(spec, options)?;
        let channels = Channel::of(spec, PORTS)?;
        configuration::accept_ports(&spec.rendezvous, &channels)?;
        channels
            .iter()
            .try_for_each(|channel| carriage::accept(channel, options).map(drop))
    }

    fn credentials(
        &self,
        request: &CredentialsRequest,
        _options: &Options,
    ) -> Result<CredentialsSet, CredentialsError> {
        configuration::policy::accept(request).map_err(CredentialsError::Refused)?;
        Ok(user::credentials(request))
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        Ok(Box::new(session::VsomeipSession::open(context)?))
    }

    fn serve(&self, spec: &ServiceSpec, options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Ok(Box::new(routing_manager::RoutingManager::start(spec, options)?))
    }
}
