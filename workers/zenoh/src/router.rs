//! The service `router`: a session in mode router within this executable, which is what `zenohd` is without plugins.
//!
//! It routes and nothing else; where it listens and what it is configured with comes from `configuration`.

use std::collections::BTreeMap;

use middlemark_contract::{SecurityLevel, ServiceSpec};
use middlemark_runtime::{MiddlewareError, Options, Service};
use zenoh::{Session, Wait};

use crate::places::Places;
use crate::security::{self, Secured};
use crate::{configuration, leftovers, settings};

pub(crate) struct Router {
    session: Session,
    level: Option<SecurityLevel>,
    /// What its links speak, by Zenoh's name.
    protocol: String,
}

impl Router {
    pub(crate) fn open(spec: &ServiceSpec, options: &Options) -> Result<Router, MiddlewareError> {
        let places = Places::of_router(&spec.rendezvous);
        let level = spec.security.as_ref().map(|security| security.level);
        let options =
            &security::kept(level, options, &spec.profile, &spec.options).map_err(|refusal| refusal.reason)?;
        let secured = Secured::router(spec, options)?;
        let config = configuration::of_router(spec, options, &places, &secured)?;
        Ok(Router {
            session: zenoh::open(config).wait()?,
            level,
            protocol: secured.protocol.clone(),
        })
    }
}

impl Service for Router {
    fn version(&self) -> String {
        settings::version()
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let mut settings = settings::read_back(&self.session, self.level);
        settings.extend(security::stated(self.level, &self.protocol));
        settings
    }

    fn child(&self) -> Option<u32> {
        None
    }

    fn check(&mut self) -> Result<(), MiddlewareError> {
        if self.session.is_closed() {
            return Err("the router's session is closed".into());
        }
        Ok(())
    }

    fn stop(self: Box<Self>) -> Result<(), MiddlewareError> {
        self.session.close().wait()?;
        drop(self);
        Ok(leftovers::remove()?)
    }
}
