//! The routing manager of one host: an application of vSomeIP that offers and requests nothing and routes for all others.
//!
//! It runs within the service's own process, as vSomeIP's daemon does, so that what it spends is not an application's. It
//! assigns the applications their identifiers, tells them of each other, and between hosts it holds the network endpoints.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use middlemark_contract::ServiceSpec;
use middlemark_runtime::{MiddlewareError, Options, Service};

use crate::configuration::{Node, ROUTING_MANAGER, accept_folder, discovery_port};
use crate::session;
use crate::shim::{self, Application};

/// Within which the routing manager must run.
const PATIENCE: Duration = Duration::from_secs(10);

/// The address that vSomeIP's service discovery sends to as shipped (`VSOMEIP_SD_DEFAULT_MULTICAST`).
const DISCOVERY_ADDRESS: Ipv4Addr = Ipv4Addr::new(224, 224, 224, 0);

/// The running routing manager.
pub(crate) struct RoutingManager {
    application: Application,
    settings: BTreeMap<String, String>,
}

impl RoutingManager {
    /// Starts it and returns once applications may register.
    pub(crate) fn start(spec: &ServiceSpec, options: &Options) -> Result<RoutingManager, MiddlewareError> {
        accept_folder(&spec.rendezvous, spec.address()).map_err(|refusal| refusal.reason)?;
        let node = Node {
            name: ROUTING_MANAGER,
            address: spec.address(),
            rendezvous: &spec.rendezvous,
            is_between_hosts: !spec.services.is_empty(),
            options,
        };
        if node.is_between_hosts {
            require_multicast_route(&spec.interface)?;
        }
        node.apply()?;
        let mut settings = session::settings(options);
        if node.is_between_hosts {
            settings.insert(
                "service-discovery.port".into(),
                format!(
                    "{}, necessary: the trial's own (as shipped: 30490)",
                    discovery_port(&spec.rendezvous)
                ),
            );
            settings.insert(
                "service-discovery.max_remote_subscribers".into(),
                "255, necessary: any number may subscribe (as shipped: 3)".into(),
            );
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
        shim::version().unwrap_or_else(|error| error.to_string())
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

/// vSomeIP starts to route between hosts only once the kernel has a route for its multicast; without one it waits for ever.
fn require_multicast_route(interface: &str) -> Result<(), MiddlewareError> {
    let table = std::fs::read_to_string("/proc/net/route")?;
    if has_route(&table, interface, DISCOVERY_ADDRESS) {
        return Ok(());
    }
    Err(format!(
        "interface {interface} has no route to {DISCOVERY_ADDRESS}, without which vSomeIP's service discovery does not start; \
         add one with: ip route add 224.0.0.0/4 dev {interface}"
    )
    .into())
}

/// Whether the kernel's routing table (`/proc/net/route`: addresses in network order, read as a number of this machine) leads there.
fn has_route(table: &str, interface: &str, address: Ipv4Addr) -> bool {
    let number = |text: &str| u32::from_str_radix(text, 16).map(u32::from_be);
    table.lines().skip(1).any(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let [name, destination, _, _, _, _, _, mask, ..] = fields[..] else {
            return false;
        };
        match (number(destination), number(mask)) {
            (Ok(destination), Ok(mask)) => name == interface && address.to_bits() & mask == destination,
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests;
