//! The worker for iceoryx2: publishers and subscribers over shared memory, without any process in between.
//!
//! It only ties the parts together: `describe` says what there is, `place` keeps trials apart, `memory` looks whether they
//! fit, `service` maps a channel's QoS, `session`, `publisher`, `subscriber` and `receive_loop` move messages, and
//! `exchange` requests and responses.

mod description;
mod exchange;
mod memory;
mod place;
mod publisher;
mod receive_loop;
mod service;
mod session;
mod subscriber;

use std::process::ExitCode;

use iceoryx2::prelude::{LogLevel, set_log_level};
use middlemark_contract::{ApplicationSpec, Description, Refusal, ServiceSpec};
use middlemark_runtime::{Context, Middleware, MiddlewareError, Options, Service, Session};

use crate::place::Place;

struct Iceoryx2;

impl Middleware for Iceoryx2 {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, _options: &Options) -> Result<(), Refusal> {
        Place::of(&spec.rendezvous).accept()?;
        memory::accept(spec, memory::shared_memory_bytes())
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        // Its log goes to standard error by itself; below warnings it tells of every step.
        set_log_level(LogLevel::Warn);
        Ok(Box::new(session::Iceoryx2Session::open(context)?))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("iceoryx2 has no service '{}'", spec.service).into())
    }
}

fn main() -> ExitCode {
    middlemark_runtime::run(&Iceoryx2)
}
