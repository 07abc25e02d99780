//! The worker for TCP sockets: one stream from each publisher to each subscriber.
//!
//! It says what TCP can do and how its sockets are made; `middlemark-sockets` carries the messages.

mod description;
mod family;
mod tls;

use std::process::ExitCode;
use std::sync::Arc;

use middlemark_contract::{ApplicationSpec, CredentialsRequest, CredentialsSet, Description, Refusal, ServiceSpec};
use middlemark_runtime::{Context, CredentialsError, Middleware, MiddlewareError, Options, Service, Session};
use middlemark_sockets::{Buffers, SocketSession};
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

    fn accept(&self, _spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
        family::accept_congestion_control(options.text("tcp_congestion"))
    }

    fn credentials(
        &self,
        request: &CredentialsRequest,
        _options: &Options,
    ) -> Result<CredentialsSet, CredentialsError> {
        Ok(tls::credentials::made(request)?)
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        let family = Tcp {
            buffers: Buffers::of(context.options),
            no_delay: context.options.boolean("tcp_nodelay"),
            congestion_control: match context.options.text("tcp_congestion") {
                "system" => None,
                named => Some(named.to_owned()),
            },
            tls: context.spec.security.as_ref().map(Tls::of).transpose()?.map(Arc::new),
        };
        let here = SockAddr::from(std::net::SocketAddr::new(context.spec.address, 0));
        let session = SocketSession::new(family, context.spec.delivery, context.options.words(), &here)?;
        Ok(Box::new(session))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("tcp has no service '{}'", spec.service).into())
    }
}
