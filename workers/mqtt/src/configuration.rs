//! Where a broker is found, and the configuration file that it is given.
//!
//! Pure: `broker` writes the file and starts it, `session` connects to it.

use std::net::IpAddr;
use std::path::PathBuf;

use middlemark_contract::{ApplicationSpec, Refusal, Rendezvous, ServiceSpec};
use middlemark_runtime::Options;

/// The service's name.
const BROKER: &str = "broker";

/// The address of the broker that an application uses: the one of its own host, else the first.
pub(crate) fn address_for(spec: &ApplicationSpec) -> Result<IpAddr, Refusal> {
    index_for(spec).map(|(address, _)| address).ok_or_else(|| Refusal {
        capability: "spec".into(),
        reason: "MQTT needs a broker, and the spec's services name none".into(),
    })
}

/// The address and number of the broker that an application uses.
pub(crate) fn index_for(spec: &ApplicationSpec) -> Option<(IpAddr, u16)> {
    let mut brokers = spec.services.iter().filter(|service| service.service == BROKER);
    let first = brokers.clone().next();
    let near = brokers.find(|service| service.address == spec.address);
    near.or(first).map(|service| (service.address, service.index))
}

/// A broker's port: from the end of the trial's range, as endpoints count from its beginning.
pub(crate) fn port(rendezvous: &Rendezvous, index: u16) -> u16 {
    rendezvous.first_port + rendezvous.ports - 1 - index
}

/// A broker's Unix socket.
pub(crate) fn socket(rendezvous: &Rendezvous, index: u16) -> PathBuf {
    rendezvous.folder.join(format!("mosquitto-{index}.sock"))
}

/// The lines of its configuration, by Mosquitto's own names.
pub(crate) fn settings(spec: &ServiceSpec, options: &Options) -> Vec<(&'static str, String)> {
    let listener = match options.text("transport") {
        "unix" => format!("0 {}", socket(&spec.rendezvous, spec.index).display()),
        _ => format!("{} {}", port(&spec.rendezvous, spec.index), spec.address),
    };
    let mut settings = vec![
        // As root it would become the user `mosquitto`, who can't enter the trial's folder; for others this has no effect.
        ("user", "root".to_owned()),
        ("log_dest", "stderr".to_owned()),
        ("log_timestamp", "false".to_owned()),
        ("listener", listener),
        ("allow_anonymous", "true".to_owned()),
        ("set_tcp_nodelay", options.boolean("broker_tcp_nodelay").to_string()),
        (
            "max_inflight_messages",
            options.integer("broker_max_inflight_messages").to_string(),
        ),
        (
            "max_queued_messages",
            options.integer("broker_max_queued_messages").to_string(),
        ),
        (
            "queue_qos0_messages",
            options.boolean("broker_queue_qos0_messages").to_string(),
        ),
        ("persistence", options.boolean("broker_persistence").to_string()),
    ];
    if options.boolean("broker_persistence") {
        settings.push(("persistence_location", format!("{}/", spec.rendezvous.folder.display())));
        settings.push(("persistence_file", format!("mosquitto-{}.db", spec.index)));
    }
    settings
}

/// The configuration file.
pub(crate) fn render(settings: &[(&str, String)]) -> String {
    let lines: Vec<_> = settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brokers_count_their_ports_from_the_end() {
        let rendezvous = Rendezvous {
            name: "t".into(),
            token: 1,
            domain: 0,
            first_port: 7550,
            ports: 100,
            folder: "/tmp".into(),
        };
        assert_eq!((port(&rendezvous, 0), port(&rendezvous, 1)), (7649, 7648));
    }
}
