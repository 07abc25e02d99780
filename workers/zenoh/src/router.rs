//! The service `router`: a session in mode router within this executable, which is what `zenohd` is without plugins.
//!
//! It routes and nothing else; where it listens and what it is configured with comes from `configuration`.

use std::collections::BTreeMap;

use middlemark_contract::ServiceSpec;
use middlemark_runtime::{MiddlewareError, Options, Service};
use zenoh::{Session, Wait};

use crate::places::Places;
use crate::{configuration, leftovers, settings};

pub(crate) struct Router(Session);

impl Router {
    pub(crate) fn open(spec: &ServiceSpec, options: &Options) -> Result<Router, MiddlewareError> {
        let places = Places::of_router(&spec.rendezvous);
        let config = configuration::of_router(spec, options, &places)?;
        Ok(Router(zenoh::open(config).wait()?))
    }
}

impl Service for Router {
    fn version(&self) -> String {
        settings::version()
    }

    fn settings(&self) -> BTreeMap<String, String> {
        settings::read_back(&self.0)
    }

    fn child(&self) -> Option<u32> {
        None
    }

    fn check(&mut self) -> Result<(), MiddlewareError> {
        if self.0.is_closed() {
            return Err("the router's session is closed".into());
        }
        Ok(())
    }

    fn stop(self: Box<Self>) -> Result<(), MiddlewareError> {
        self.0.close().wait()?;
        drop(self);
        Ok(leftovers::remove()?)
    }
}
