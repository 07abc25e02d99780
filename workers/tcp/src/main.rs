//! The worker for TCP sockets: one stream from each publisher to each subscriber.
//!
//! It says what TCP can do and how its sockets are made; `middlemark-sockets` carries the messages.

mod congestion;
mod description;
mod family;
mod tls;

use std::process::ExitCode;
use std::sync::Arc;

use middlemark_contract::{ApplicationSpec, CredentialsRequest, CredentialsSet, Description, Refusal, ServiceSpec};
use middlemark_runtime::{Context, CredentialsError, Middleware, MiddlewareError, Options, Service, Session};
use middlemark_sockets::{SocketSession, accept_queues};
use socket2::SockAddr;

use crate::family::Tcp;
use crate::tls::Tls;

fn main() -> ExitCode {
    middlemark_runtime::run(&Worker)
}

struct Worker;

impl Middleware for Worker {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
        let family = Tcp::of(options, None).with_usual_congestion_control();
        accept_queues(&family, spec, &here(spec))?;
        congestion::accept(options.text("tcp_congestion"))
    }

    fn credentials(
        &self,
        request: &CredentialsRequest,
        _options: &Options,
    ) -> Result<CredentialsSet, CredentialsError> {
        Ok(tls::credentials::made(request)?)
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        let tls = context.spec.security.as_ref().map(Tls::of).transpose()?.map(Arc::new);
        let family = Tcp::of(context.options, tls);
        let (delivery, settings) = (context.spec.delivery, context.options.words());
        let session = SocketSession::new(family, delivery, settings, &here(context.spec))?;
        Ok(Box::new(session))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("tcp has no service '{}'", spec.service).into())
    }
}

/// An address of its host, of any port.
fn here(spec: &ApplicationSpec) -> SockAddr {
    SockAddr::from(std::net::SocketAddr::new(spec.address, 0))
}
