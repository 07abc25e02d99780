//! The routing manager of one host: an application of vSomeIP that offers and requests nothing and routes for all others.
//!
//! It runs within the service's own process, as vSomeIP's daemon does, so that what it spends is not an application's. It
//! assigns the applications their identifiers, tells them of each other, and between hosts it holds the network endpoints.

use std::collections::BTreeMap;
use std::time::Duration;

use middlemark_contract::{Congestion, ServiceSpec};
use middlemark_runtime::{MiddlewareError, Options, Service};

use crate::configuration::{Node, ROUTING_MANAGER, accept_folder, discovery_port};
use crate::discovery;
use crate::session;
use crate::shim::{self, Application};

/// Within which the routing manager must run.
const PATIENCE: Duration = Duration::from_secs(10);

/// The running routing manager.
pub(crate) struct RoutingManager {
    application: Application,
    settings: BTreeMap<String, String>,
}

impl RoutingManager {
    /// Starts it and returns once applications may register.
    pub(crate) fn start(spec: &ServiceSpec, options: &Options) -> Result<RoutingManager, MiddlewareError> {
        accept_folder(&spec.rendezvous, spec.address()).map_err(|refusal| refusal.reason)?;
        let is_between_hosts = !spec.services.is_empty();
        let broadcast = if is_between_hosts {
            discovery::broadcast(spec, options)?
        } else {
            None
        };
        let node = Node {
            name: ROUTING_MANAGER,
            address: spec.address(),
            rendezvous: &spec.rendezvous,
            is_between_hosts,
            is_secured: spec.security.is_some(),
            broadcast,
            host: Some(spec.index),
            queue_limit_bytes: (spec.congestion == Congestion::Drop).then(|| spec.queued_bytes()),
            options,
        };
        node.apply()?;
        let mut settings = session::settings(options, node.queue_limit_bytes, node.is_secured);
        if node.is_between_hosts {
            settings.insert(
                "service-discovery.port".into(),
                format!(
                    "{}, necessary: the trial's own (as shipped: 30490)",
                    discovery_port(&spec.rendezvous)
                ),
            );
            settings.insert(
                "diagnosis".into(),
                format!(
                    "{:#04x}, necessary: the host's own, so that no two clients have one identifier (as shipped: 0x01)",
                    spec.index + 1
                ),
            );
            settings.insert(
                "service-discovery.max_remote_subscribers".into(),
                "255, necessary: any number may subscribe (as shipped: 3)".into(),
            );
            if let Some(address) = broadcast {
                settings.insert(
                    "service-discovery.multicast".into(),
                    format!("{address}, the network's broadcast address (as shipped: a multicast address)"),
                );
            }
        } else {
            settings.insert(
                "service-discovery.enable".into(),
                "false, as there is no other host (as shipped: true)".into(),
            );
        }
        Ok(RoutingManager {
            application: Application::open(node.name, Some(PATIENCE))?,
            settings,
        })
    }
}

impl Service for RoutingManager {
    fn version(&self) -> String {
        shim::VERSION.into()
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
        Ok(self.application.close()?)
    }
}
