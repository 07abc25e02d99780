//! The worker of Dust DDS: RTPS over UDP, with a library that is Rust alone and so needs no shim.
//!
//! It measures nothing itself: the runtime calls it. `docs/middlewares/dustdds.md` tells its settings and traps.

mod description;
mod limits;
mod listener;
mod message;
mod policies;
mod reader;
mod session;
mod transport;
mod writer;

use std::process::ExitCode;

use middlemark_contract::{ApplicationSpec, Description, Refusal, ServiceSpec};
use middlemark_dds::DdsSession;
use middlemark_runtime::{Context, Middleware, MiddlewareError, Options, Service, Session};

struct DustDds;

impl Middleware for DustDds {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
        middlemark_dds::accept(spec)?;
        limits::accept(spec, options)
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        Ok(Box::new(DdsSession(session::Participant::open(context)?)))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("Dust DDS has no service '{}': it needs none", spec.service).into())
    }
}

fn main() -> ExitCode {
    middlemark_runtime::run(&DustDds)
}
