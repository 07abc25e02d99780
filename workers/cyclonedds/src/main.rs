//! The worker of Eclipse Cyclone DDS: RTPS over UDP, through a shim in C with a hand-written topic descriptor.
//!
//! It measures nothing itself: the runtime calls it. `docs/middlewares/cyclonedds.md` tells its settings and traps.

mod configuration;
mod description;
mod profiles;
mod reader;
mod security;
mod session;
mod shim;

use std::process::ExitCode;

use middlemark_contract::{ApplicationSpec, CredentialsRequest, CredentialsSet, Description, Refusal, ServiceSpec};
use middlemark_dds::DdsSession;
use middlemark_dds::security::{self as dds_security, Layers};
use middlemark_runtime::{Context, CredentialsError, Middleware, MiddlewareError, Options, Service, Session};

struct CycloneDds;

impl Middleware for CycloneDds {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, _options: &Options) -> Result<(), Refusal> {
        middlemark_dds::accept(spec)?;
        configuration::accept(spec)?;
        reader::accept(spec.delivery, &spec.streams)
    }

    fn credentials(&self, request: &CredentialsRequest, options: &Options) -> Result<CredentialsSet, CredentialsError> {
        Ok(dds_security::credentials(request, Layers::of(options))?)
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        Ok(Box::new(DdsSession(session::Participant::open(context)?)))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("Cyclone DDS has no service '{}': it needs none", spec.service).into())
    }
}

fn main() -> ExitCode {
    middlemark_runtime::run(&CycloneDds)
}
