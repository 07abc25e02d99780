//! The worker for Unix domain sockets: streams, packets or datagrams between processes of one machine.
//!
//! It says what they can do and how they are made; `middlemark-sockets` carries the messages.

mod description;
mod family;

use std::process::ExitCode;

use middlemark_contract::{ApplicationSpec, Description, Refusal, ServiceSpec, StreamSpec};
use middlemark_runtime::{Context, Middleware, MiddlewareError, Options, Service, Session};
use middlemark_sockets::{SocketSession, accept_queues};
use socket2::SockAddr;

use crate::family::Uds;

fn main() -> ExitCode {
    middlemark_runtime::run(&Worker)
}

struct Worker;

impl Middleware for Worker {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
        let family = Uds::new(spec, options);
        family.accept_folder()?;
        // Its name fits, as that of a socket in it does.
        if let Ok(here) = SockAddr::unix(&spec.rendezvous.folder) {
            accept_queues(&family, spec, &here)?;
        }
        spec.streams
            .iter()
            .try_for_each(|stream| family.accept_pattern(stream))?;
        family.accept_size(largest_message_bytes(spec))
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        let family = Uds::new(context.spec, context.options);
        let here = SockAddr::unix(&context.spec.rendezvous.folder)?;
        let session = SocketSession::new(family, context.spec.delivery, context.options.words(), &here)?;
        Ok(Box::new(session))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("uds has no service '{}'", spec.service).into())
    }
}

fn largest_message_bytes(spec: &ApplicationSpec) -> u64 {
    let largest = |stream: &StreamSpec| stream.size_bytes.max(stream.pattern.answer_bytes().unwrap_or(0));
    spec.streams.iter().map(largest).max().unwrap_or(0)
}
