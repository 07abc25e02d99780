//! The worker for UDP sockets: one datagram a message, best effort, nothing else.
//!
//! It says what UDP can do and how its sockets are made; `middlemark-sockets` carries the messages.

mod description;
mod family;

use std::process::ExitCode;

use middlemark_contract::{ApplicationSpec, Description, Refusal, ServiceSpec};
use middlemark_runtime::{Context, Middleware, MiddlewareError, Options, Service, Session};
use middlemark_sockets::{Buffers, SocketSession};
use socket2::SockAddr;

use crate::family::Udp;

fn main() -> ExitCode {
    middlemark_runtime::run(&Worker)
}

struct Worker;

impl Middleware for Worker {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, _spec: &ApplicationSpec, _options: &Options) -> Result<(), Refusal> {
        Ok(()) // the description says all there is to refuse
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        let family = Udp {
            buffers: Buffers::of(context.options),
        };
        let here = SockAddr::from(std::net::SocketAddr::new(context.spec.address, 0));
        let session = SocketSession::new(family, context.spec.delivery, context.options.words(), &here)?;
        Ok(Box::new(session))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("udp has no service '{}'", spec.service).into())
    }
}
