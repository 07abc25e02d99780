//! The worker of MQTT: rumqttc (MQTT 3.1.1, and 5 where an application asks or answers) against a Mosquitto broker that is
//! started for the trial.
//!
//! It measures nothing itself: the runtime calls it. `docs/middlewares/mqtt.md` tells its settings and traps.

mod broker;
mod configuration;
mod credentials;
mod description;
mod exchange;
mod level;
mod link;
mod profiles;
mod protocol;
mod publisher;
mod session;

use std::process::ExitCode;

use middlemark_contract::{ApplicationSpec, CredentialsRequest, CredentialsSet, Description, Refusal, ServiceSpec};
use middlemark_runtime::{Context, CredentialsError, Middleware, MiddlewareError, Options, Service, Session};

struct Mqtt;

impl Middleware for Mqtt {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
        let broker = configuration::address_for(spec)?;
        spec.streams.iter().try_for_each(|stream| level::check(&stream.qos))?;
        spec.require_bounded_floods("a broker holds no publisher back for a slower subscriber, it queues what comes")?;
        configuration::accept_bridges(options)?;
        configuration::accept_requests(spec, options)?;
        credentials::accept(spec.security.as_ref().map(|security| security.level), options)?;
        let endpoints = spec
            .streams
            .iter()
            .flat_map(|stream| stream.publishers.iter().chain(&stream.subscribers));
        let elsewhere = endpoints
            .map(|endpoint| endpoint.address)
            .find(|address| *address != broker);
        match elsewhere {
            Some(address) if options.text("transport") == "unix" => Err(Refusal {
                capability: "between_hosts".into(),
                reason: format!("the broker's Unix socket on {broker} can't be reached from {address}; allowed: tcp"),
            }),
            _ => Ok(()),
        }
    }

    fn credentials(&self, request: &CredentialsRequest, options: &Options) -> Result<CredentialsSet, CredentialsError> {
        credentials::made(request, options)
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        Ok(Box::new(session::Connected::open(context)?))
    }

    fn serve(&self, spec: &ServiceSpec, options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        if options.text("transport") == "unix" && !spec.services.is_empty() {
            return Err("brokers on several hosts can't be linked over transport 'unix'; allowed: tcp".into());
        }
        Ok(Box::new(broker::Mosquitto::start(spec, options)?))
    }
}

fn main() -> ExitCode {
    middlemark_runtime::run(&Mqtt)
}
