//! The worker for UDP sockets: one datagram a message, best effort, nothing else.
//!
//! It says what UDP can do and how its sockets are made; `middlemark-sockets` carries the messages.

mod description;
mod family;

use std::process::ExitCode;

use middlemark_contract::{ApplicationSpec, Description, Refusal, ServiceSpec};
use middlemark_runtime::{Context, Middleware, MiddlewareError, Options, Service, Session};
use middlemark_sockets::{Buffers, SocketSession, accept_queues};
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

    fn accept(&self, spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
        let buffers = Buffers::of(options);
        accept_queues(&Udp { buffers }, spec, &here(spec))
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        let family = Udp {
            buffers: Buffers::of(context.options),
        };
        let (delivery, settings) = (context.spec.delivery, context.options.words());
        let session = SocketSession::new(family, delivery, settings, &here(context.spec))?;
        Ok(Box::new(session))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("udp has no service '{}'", spec.service).into())
    }
}

/// An address of its host, of any port.
fn here(spec: &ApplicationSpec) -> SockAddr {
    SockAddr::from(std::net::SocketAddr::new(spec.address, 0))
}
