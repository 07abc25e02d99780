//! The worker for a ring in shared memory: messages written in place by one process and read in place by others.
//!
//! It says what such a ring can do and runs a thread on each; the ring itself is `middlemark-ring`.

mod description;
mod publisher;
mod receive_loop;
mod rings;
mod session;

use std::process::ExitCode;

use middlemark_contract::{ApplicationSpec, Description, PortHolders, Refusal, ServiceSpec};
use middlemark_runtime::{Channel, Context, Middleware, MiddlewareError, Options, Service, Session};

use crate::session::ShmSession;

fn main() -> ExitCode {
    middlemark_runtime::run(&Worker)
}

struct Worker;

impl Middleware for Worker {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, _options: &Options) -> Result<(), Refusal> {
        rings::accept(&Channel::of(spec, PortHolders::Nothing)?)
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        Ok(Box::new(ShmSession::new(context.spec, context.options)))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("shm has no service '{}'", spec.service).into())
    }
}
