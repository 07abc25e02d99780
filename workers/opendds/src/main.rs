//! The worker of OpenDDS: RTPS over UDP, or its own protocol over TCP, through a shim in C++ over the user's own build.
//!
//! It measures nothing itself: the runtime calls it. `docs/middlewares/opendds.md` tells its settings and traps.

mod configuration;
mod description;
mod profiles;
mod reader;
mod session;
mod shim;
mod writer;

use std::process::ExitCode;

use middlemark_contract::{ApplicationSpec, Description, Refusal, ServiceSpec};
use middlemark_runtime::{Context, Middleware, MiddlewareError, Options, Service, Session};

struct OpenDds;

impl Middleware for OpenDds {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, _options: &Options) -> Result<(), Refusal> {
        configuration::accept(spec)?;
        middlemark_dds::accept(spec)?;
        reader::accept(spec.delivery, &spec.streams)
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        Ok(Box::new(session::Participant::open(context)?))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!(
            "OpenDDS has no service '{}': participants find each other",
            spec.service
        )
        .into())
    }
}

fn main() -> ExitCode {
    middlemark_runtime::run(&OpenDds)
}
