//! The service `discovery_server`: a participant in the role of a server, in a process of its own; it has no endpoints.

use std::collections::BTreeMap;

use middlemark_contract::ServiceSpec;
use middlemark_dds::checked;
use middlemark_dds::security::Properties;
use middlemark_runtime::{MiddlewareError, Options, Service};

use crate::discovery::Discovery;
use crate::session::participant;
use crate::shim::{self, ShimSession};
use crate::transport::Transport;

pub(crate) struct Server {
    handle: *mut ShimSession,
    settings: BTreeMap<String, String>,
}

impl Server {
    pub(crate) fn open(spec: &ServiceSpec, options: &Options) -> Result<Server, MiddlewareError> {
        let discovery = Discovery::of_server(spec);
        let name = format!("server_{}", spec.index);
        let places = |of: &[crate::discovery::Place]| {
            let words: Vec<_> = of
                .iter()
                .map(|place| format!("{}:{}", place.address, place.port))
                .collect();
            words.join(", ")
        };
        let settings = [
            ("discovery protocol", "SERVER".to_owned()),
            ("transport", "udp".to_owned()),
            ("listens on", places(&discovery.own)),
            ("linked with", places(&discovery.others)),
        ];
        Ok(Server {
            handle: participant(
                &name,
                &spec.rendezvous,
                Transport::Udp,
                options,
                &discovery,
                &Properties::default(),
            )?,
            settings: settings.map(|(name, value)| (name.to_owned(), value)).into(),
        })
    }
}

impl Service for Server {
    fn version(&self) -> String {
        middlemark_dds::version()
    }

    fn settings(&self) -> BTreeMap<String, String> {
        self.settings.clone()
    }

    fn child(&self) -> Option<u32> {
        None
    }

    fn check(&mut self) -> Result<(), MiddlewareError> {
        Ok(()) // it is this process
    }

    fn stop(self: Box<Self>) -> Result<(), MiddlewareError> {
        // SAFETY: the participant is open, and nobody else has it.
        let code = unsafe { shim::mm_close(self.handle) };
        checked(code, "delete the server's participant")?;
        Ok(())
    }
}
