//! The worker of RustDDS: RTPS over UDP, with a library that is Rust alone and so needs no shim.
//!
//! It measures nothing itself: the runtime calls it. `docs/middlewares/rustdds.md` tells its settings and traps.

mod description;
mod limits;
mod message;
mod policies;
mod reader;
mod session;
mod status;
mod writer;

use std::process::ExitCode;

use middlemark_contract::{ApplicationSpec, Description, Refusal, ServiceSpec};
use middlemark_dds::DdsSession;
use middlemark_runtime::{Context, Middleware, MiddlewareError, Options, Service, Session};

struct RustDds;

impl Middleware for RustDds {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
        middlemark_dds::accept(spec)?;
        limits::accept(spec, options)
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        log_to_standard_error();
        Ok(Box::new(DdsSession(session::Participant::open(context)?)))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("RustDDS has no service '{}': it needs none", spec.service).into())
    }
}

/// Errors alone: a warning of each write that finds no room would be a system call within it.
fn log_to_standard_error() {
    // A second call finds the first one's in place, which is as good.
    let _ = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_max_level(tracing_subscriber::filter::LevelFilter::ERROR)
        .try_init();
}

fn main() -> ExitCode {
    middlemark_runtime::run(&RustDds)
}
