//! The worker of eProsima Fast DDS, through a shim in C++ that compiles against the versions 2 and 3 of the library.
//!
//! It measures nothing itself: the runtime calls it. `docs/middlewares/fastdds.md` tells its settings and traps.

mod description;
mod discovery;
mod profiles;
mod quality;
mod reader;
mod security;
mod server;
mod session;
mod shim;
mod transport;
mod writer;

use std::process::ExitCode;

use middlemark_contract::{ApplicationSpec, CredentialsRequest, CredentialsSet, Description, Refusal, ServiceSpec};
use middlemark_dds::security::{self as dds_security, Layers};
use middlemark_runtime::{Context, CredentialsError, Middleware, MiddlewareError, Options, Service, Session};

struct FastDds;

impl Middleware for FastDds {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
        transport::acceptance::accept(spec, options)?;
        discovery::accept(spec, options)?;
        if let Some(secured) = &spec.security {
            security::accept(secured.level, options)?;
        }
        middlemark_dds::accept(spec)?;
        reader::accept(spec.delivery, &spec.streams, options)
    }

    fn credentials(&self, request: &CredentialsRequest, options: &Options) -> Result<CredentialsSet, CredentialsError> {
        security::accept(request.level, options).map_err(CredentialsError::Refused)?;
        Ok(dds_security::credentials(request, Layers::of(options))?)
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        Ok(Box::new(session::Participant::open(context)?))
    }

    fn serve(&self, spec: &ServiceSpec, options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Ok(Box::new(server::Server::open(spec, options)?))
    }
}

fn main() -> ExitCode {
    middlemark_runtime::run(&FastDds)
}
