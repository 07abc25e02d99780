//! The worker with a known answer: a middleware whose delays, losses, duplicates and reorderings are programmed.
//!
//! What becomes of a message is a pure function of the program, its channel, publisher, subscriber and sequence number
//! (`fate`), so that a test can say beforehand what the whole pipeline must report. Rings carry the messages
//! (`middlemark-ring`); each subscriber's side releases them on time (`release`).

mod description;
mod fate;
mod lateness;
mod link;
mod program;
mod release;
mod session;

use std::process::ExitCode;
use std::sync::OnceLock;

use middlemark_contract::{ApplicationSpec, Description, Refusal, ServiceSpec};
use middlemark_runtime::{Context, Middleware, MiddlewareError, Options, Service, Session};

use crate::lateness::Lateness;
use crate::program::Program;
use crate::session::SyntheticSession;

fn main() -> ExitCode {
    middlemark_runtime::run(&Worker::default())
}

#[derive(Default)]
struct Worker {
    /// The timer's own error, measured before the trial so that measuring it costs the trial nothing.
    timer: OnceLock<Lateness>,
}

impl Middleware for Worker {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, _spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
        self.timer
            .get_or_init(|| release::timer_error(Program::of(options).release_spin_ns));
        Ok(()) // the description says all there is to refuse
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        let program = Program::of(context.options);
        let mut settings = context.options.words();
        settings.extend(
            self.timer
                .get()
                .map(|timer| timer.words("timer_error"))
                .unwrap_or_default(),
        );
        Ok(Box::new(SyntheticSession::new(
            &context.spec.rendezvous.name,
            program,
            context.spec.delivery,
            settings,
        )))
    }

    fn serve(&self, spec: &ServiceSpec, _options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err(format!("synthetic has no service '{}'", spec.service).into())
    }
}
