//! Who listens where: every application's, every router's and the scouting's place within the trial.
//!
//! Pure arithmetic over the spec, the same on every host: applications listen on the one port that each has,
//! scouting has the last port of the trial's range and routers those below it. `configuration` writes it down.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use middlemark_contract::{ApplicationSpec, Refusal, Rendezvous, ServiceAddress};
use middlemark_runtime::Channel;

/// The service's name in the description and in specs.
pub(crate) const ROUTER: &str = "router";

/// The places of one trial, as one of its processes sees them.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The application this is seen from; empty at a router.
    own: String,
    /// Where each application listens, by name.
    applications: BTreeMap<String, SocketAddr>,
    /// The routers that it reaches, nearest first; empty at a router.
    routers: Vec<ServiceAddress>,
    rendezvous: Rendezvous,
}

impl Places {
    /// The places as an application sees them.
    pub(crate) fn of(spec: &ApplicationSpec, channels: &[Channel]) -> Places {
        let applications = channels
            .iter()
            .flat_map(|channel| channel.publishers.iter().chain(&channel.subscribers))
            .map(|endpoint| (endpoint.application.clone(), endpoint.socket))
            .collect();
        Places {
            own: spec.application.clone(),
            applications,
            routers: routers(&spec.services).cloned().collect(),
            rendezvous: spec.rendezvous.clone(),
        }
    }

    /// The places as a router sees them.
    pub(crate) fn of_router(rendezvous: &Rendezvous) -> Places {
        Places {
            own: String::new(),
            applications: BTreeMap::new(),
            routers: Vec::new(),
            rendezvous: rendezvous.clone(),
        }
    }

    /// Whether the range has ports for scouting and the routers beyond those of the applications.
    pub(crate) fn accept(&self) -> Result<(), Refusal> {
        let routers = self.routers.iter().map(|router| usize::from(router.index) + 1).max();
        let needed = self.applications.len() + routers.unwrap_or(0) + 1;
        if needed <= usize::from(self.rendezvous.ports) {
            return Ok(());
        }
        Err(Refusal {
            capability: "spec".into(),
            reason: format!("zenoh needs {needed} ports, the trial has {}", self.rendezvous.ports),
        })
    }

    /// The port of multicast scouting: no other trial's, so that trials never find each other.
    pub(crate) fn scouting_port(&self) -> u16 {
        self.rendezvous.first_port + (self.rendezvous.ports - 1)
    }

    /// Where this application listens.
    pub(crate) fn own_endpoint(&self, transport: &str) -> String {
        self.application_endpoint(&self.own, transport)
    }

    /// Where this application listens when others need not know it beforehand.
    pub(crate) fn own_free_endpoint(&self, address: IpAddr, transport: &str) -> String {
        match transport {
            "unixsock-stream" => self.own_endpoint(transport),
            _ => format!("{transport}/{}", SocketAddr::new(address, 0)),
        }
    }

    /// The applications that this one connects to: those before it by name, so that each pair connects once.
    pub(crate) fn earlier_endpoints(&self, transport: &str) -> Vec<String> {
        self.applications
            .range::<String, _>(..&self.own)
            .map(|(name, _)| self.application_endpoint(name, transport))
            .collect()
    }

    /// The router that an application uses: the nearest.
    pub(crate) fn router(&self) -> Option<&ServiceAddress> {
        self.routers.first()
    }

    /// Where a router listens.
    pub(crate) fn router_endpoint(&self, address: IpAddr, index: u16, transport: &str) -> String {
        let port = self.scouting_port() - 1 - index;
        match transport {
            "unixsock-stream" => format!("{transport}/{}", self.socket_path(&format!("router{index}"))),
            _ => format!("{transport}/{}", SocketAddr::new(address, port)),
        }
    }

    /// Whether all applications and routers share the host with `address`.
    pub(crate) fn on_one_host(&self, address: IpAddr) -> bool {
        self.applications.values().all(|socket| socket.ip() == address)
            && self.routers.iter().all(|router| router.address == address)
    }

    /// The longest path of a socket of this trial, the lock beside it included.
    pub(crate) fn longest_socket_path_bytes(&self) -> usize {
        self.socket_path(&format!("router{}", u16::MAX)).len() + ".lock".len()
    }

    fn application_endpoint(&self, name: &str, transport: &str) -> String {
        match transport {
            "unixsock-stream" => {
                let number = self.applications.keys().take_while(|other| *other != name).count();
                format!("{transport}/{}", self.socket_path(&format!("application{number}")))
            }
            _ => format!("{transport}/{}", self.applications[name]),
        }
    }

    fn socket_path(&self, name: &str) -> String {
        let path: PathBuf = self.rendezvous.folder.join(format!("{name}.sock"));
        path.display().to_string()
    }
}

/// The routers among some services.
fn routers<'a>(services: impl IntoIterator<Item = &'a ServiceAddress>) -> impl Iterator<Item = &'a ServiceAddress> {
    services.into_iter().filter(|service| service.service == ROUTER)
}
