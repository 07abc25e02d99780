//! The worker of RustDDS: RTPS over UDP, with a library that is Rust alone and so needs no shim.
//!
//! It measures nothing itself: the runtime calls it. `docs/middlewares/rustdds.md` tells its settings and traps.

mod description;
mod interruption;
mod limits;
mod message;
mod policies;
mod reader;
mod session;
mod status;
mod wake;
mod writer;

use std::process::ExitCode;

use middlemark_contract::{ApplicationSpec, Description, Refusal, ServiceSpec};
use middlemark_runtime::{Context, Middleware, MiddlewareError, Options, Service, Session};

struct RustDds;

impl Middleware for RustDds {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, _options: &Options) -> Result<(), Refusal> {
        middlemark_dds::accept(spec)?;
        limits::accept(spec)
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        Ok(Box::new(session::Participant::open(context)?))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("RustDDS has no service '{}': it needs none", spec.service).into())
    }
}

fn main() -> ExitCode {
    middlemark_runtime::run(&RustDds)
}
