//! vSomeIP's configuration: what one process of a trial reads, rendered as JSON into the trial's folder.
//!
//! A key stands in it only where the trial needs it or an option asks for it; everything else is as vSomeIP ships it. It
//! starts nothing; `session` and `routing_manager` say who they are and open an application on the file.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;
use std::path::PathBuf;

use middlemark_contract::{Refusal, Rendezvous};
use middlemark_runtime::{Channel, Options};
use serde_json::{Map, Value, json};

pub(crate) mod policy;

/// The application that routes on each host; every other application's configuration names it.
pub(crate) const ROUTING_MANAGER: &str = "routing_manager";

/// The identifiers of a service: see the shim.
const FIRST_SERVICE: u16 = 0x1000;
const INSTANCE: &str = "0x0001";
const EVENT: &str = "0x8001";
const METHOD: &str = "0x0001";

/// The longest path of a Unix socket, less its ending zero.
const LONGEST_SOCKET_PATH: usize = 107;

/// How long an application waits for an answer of its routing manager while it shuts down, so that closing stays within what
/// a worker is given even where the routing manager has died; as shipped it would wait 5 s, twice.
const SHUTDOWN_TIMEOUT_MS: u32 = 1500;

/// One process that runs vSomeIP.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    /// Its name as an application of vSomeIP.
    pub(crate) name: &'a str,
    /// Its host's address.
    pub(crate) address: IpAddr,
    /// What keeps the trial apart.
    pub(crate) rendezvous: &'a Rendezvous,
    /// Whether applications of other hosts are to be reached.
    pub(crate) is_between_hosts: bool,
    /// Whether only the trial's user may offer and request its services.
    pub(crate) is_secured: bool,
    /// Where service discovery sends to instead of by multicast; only the routing manager's does.
    pub(crate) broadcast: Option<Ipv4Addr>,
    /// Its host's number within the trial; only the routing manager's counts, which gives its host's clients their identifiers.
    pub(crate) host: Option<u16>,
    /// Beyond which a queue drops messages; none: never, as shipped.
    pub(crate) queue_limit_bytes: Option<u64>,
    /// The worker's options.
    pub(crate) options: &'a Options,
}

impl Node<'_> {
    /// Writes the configuration and has vSomeIP read it.
    pub(crate) fn apply(&self) -> std::io::Result<()> {
        let path = self.file("json");
        std::fs::write(&path, self.render().to_string())?;
        // SAFETY: a worker opens its one application from its main thread, and none of the runtime's threads reads the
        // environment. vSomeIP reads it from this thread, and knows no other way that a stray ./vsomeip.json can't override.
        unsafe { std::env::set_var("VSOMEIP_CONFIGURATION", path) };
        Ok(())
    }

    /// The whole configuration.
    pub(crate) fn render(&self) -> Value {
        let mut configuration = json!({
            "unicast": self.address.to_string(),
            "network": network(self.rendezvous, self.address),
            "routing": ROUTING_MANAGER,
            "applications": [self.application()],
            "logging": self.logging(),
            "shutdown_timeout": text(SHUTDOWN_TIMEOUT_MS),
            "service-discovery": self.discovery(),
        });
        let whole = configuration.as_object_mut().expect("it is written as an object");
        self.add_tuning(whole);
        if self.is_secured {
            policy::add(whole, self.ports().map(|port| service(self.rendezvous, port)));
        }
        if self.is_between_hosts {
            whole.insert("services".into(), self.services());
            self.add_client_prefix(whole);
        }
        configuration
    }

    /// A file of this process in the trial's folder; hosts on one machine may share it.
    pub(crate) fn file(&self, ending: &str) -> PathBuf {
        let host = self.address.to_string().replace(':', "_");
        self.rendezvous.folder.join(format!("{host}.{}.{ending}", self.name))
    }

    fn application(&self) -> Value {
        json!({
            "name": self.name,
            "threads": self.integer("io_threads"),
            "max_dispatchers": self.integer("max_dispatchers"),
            "max_dispatch_time": self.integer("max_dispatch_time_ms"),
            "request_debounce_time": self.integer("request_debounce_ms"),
        })
    }

    /// The console is off, as standard output is the worker's protocol.
    fn logging(&self) -> Value {
        json!({
            "level": self.options.text("log_level"),
            "console": "false",
            "file": { "enable": "true", "path": self.file("log") },
            "dlt": "false",
        })
    }

    /// Off where there is nobody to discover. The port is the trial's last, so that trials do not find each other.
    fn discovery(&self) -> Value {
        if !self.is_between_hosts {
            return json!({ "enable": "false" });
        }
        let mut discovery = json!({
            "enable": "true",
            "port": text(discovery_port(self.rendezvous)),
            "initial_delay_min": self.integer("sd_initial_delay_min_ms"),
            "initial_delay_max": self.integer("sd_initial_delay_max_ms"),
            "repetitions_base_delay": self.integer("sd_repetitions_base_delay_ms"),
            "offer_debounce_time": self.integer("sd_offer_debounce_ms"),
            // As shipped 3: a fourth subscriber would be refused.
            "max_remote_subscribers": "255",
        });
        if let Some(address) = self.broadcast {
            discovery["multicast"] = address.to_string().into();
        }
        discovery
    }

    /// As shipped the clients of all hosts have the same identifiers, and a response goes to whom of its server's host has its
    /// client's.
    fn add_client_prefix(&self, whole: &mut Map<String, Value>) {
        if let Some(host) = self.host {
            whole.insert("diagnosis".into(), format!("{:#04x}", host + 1).into());
        }
    }

    fn add_tuning(&self, whole: &mut Map<String, Value>) {
        let (debounce, retention) = (self.integer("npdu_debounce_ms"), self.integer("npdu_retention_ms"));
        whole.insert(
            "npdu-default-timings".into(),
            json!({
                "debounce-time-request": debounce,
                "debounce-time-response": debounce,
                "max-retention-time-request": retention,
                "max-retention-time-response": retention,
            }),
        );
        for (key, option) in [
            ("buffer-shrink-threshold", "buffer_shrink_threshold"),
            ("udp-receive-buffer-size", "udp_receive_buffer_bytes"),
        ] {
            whole.insert(key.into(), self.integer(option).into());
        }
        if let Some(bytes) = self.queue_limit_bytes {
            for key in ["endpoint-queue-limit-local", "endpoint-queue-limit-external"] {
                whole.insert(key.into(), bytes.to_string().into());
            }
        }
    }

    /// Every service that the trial's range of ports has room for: the routing manager opens the ports, and it knows the
    /// range, but not the streams.
    fn services(&self) -> Value {
        let services: Vec<_> = self.ports().map(|port| self.service(port)).collect();
        services.into()
    }

    fn ports(&self) -> Range<u16> {
        self.rendezvous.first_port..discovery_port(self.rendezvous)
    }

    fn service(&self, port: u16) -> Value {
        let mut service = json!({
            "service": format!("{:#06x}", service(self.rendezvous, port)),
            "instance": INSTANCE,
        });
        let transport = self.options.text("transport");
        if transport != "udp" {
            service["reliable"] = json!({ "port": text(port), "enable-magic-cookies": "false" });
        }
        if transport != "tcp" {
            service["unreliable"] = text(port).into();
        }
        if self.options.boolean("someip_tp") {
            let segments = |method: &str| {
                json!({
                    "method": method,
                    "max-segment-length": self.integer("tp_segment_bytes"),
                    "separation-time": self.integer("tp_separation_us"),
                })
            };
            service["someip-tp"] = json!({
                "service-to-client": [segments(EVENT), segments(METHOD)],
                "client-to-service": [segments(METHOD)],
            });
        }
        service
    }

    fn integer(&self, option: &str) -> String {
        text(self.options.integer(option))
    }
}

/// The service that the publisher or server at `port` is; no two of a trial have one port.
pub(crate) fn service(rendezvous: &Rendezvous, port: u16) -> u16 {
    FIRST_SERVICE + (port - rendezvous.first_port)
}

/// The port of service discovery: the trial's last.
pub(crate) fn discovery_port(rendezvous: &Rendezvous) -> u16 {
    rendezvous.first_port + rendezvous.ports - 1
}

/// Refuses a folder whose sockets' paths would be too long.
///
/// # Errors
/// The refusal, with the lengths.
pub(crate) fn accept_folder(rendezvous: &Rendezvous, address: IpAddr) -> Result<(), Refusal> {
    let longest = format!("//{}-ffff", network(rendezvous, address)).len();
    if longest <= LONGEST_SOCKET_PATH {
        return Ok(());
    }
    Err(Refusal {
        capability: "spec".into(),
        reason: format!(
            "sockets in {} would have paths of {longest} bytes; Unix allows {LONGEST_SOCKET_PATH}",
            rendezvous.folder.display()
        ),
    })
}

/// Refuses a trial between hosts that needs its last port for a publisher, as service discovery has it.
///
/// # Errors
/// The refusal, with the port.
pub(crate) fn accept_ports(rendezvous: &Rendezvous, channels: &[Channel]) -> Result<(), Refusal> {
    let last = discovery_port(rendezvous);
    let mut endpoints = channels
        .iter()
        .flat_map(|channel| channel.publishers.iter().chain(&channel.subscribers));
    if endpoints.all(|endpoint| endpoint.socket.port() < last) {
        return Ok(());
    }
    Err(Refusal {
        capability: "spec".into(),
        reason: format!(
            "the trial has as many publishers as ports: its last, {last}, is for service discovery, so have fewer"
        ),
    })
}

/// The name that vSomeIP's sockets and lock begin with; the library is built with the base path `/`, so that this is where
/// in the trial's folder they lie. Hosts on one machine may share the folder, and each has a routing manager of its own.
fn network(rendezvous: &Rendezvous, address: IpAddr) -> String {
    let folder = rendezvous.folder.display().to_string();
    format!("{}/{address}", folder.trim_start_matches('/'))
}

/// vSomeIP's own examples write numbers as strings.
fn text(number: impl Into<i64>) -> String {
    number.into().to_string()
}

#[cfg(test)]
mod tests;
