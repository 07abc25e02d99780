//! Where a broker is found, and the configuration file that it is given.
//!
//! `broker` writes the file and starts it, `session` connects to it; `secured` has the lines that keep strangers out.

mod secured;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use middlemark_contract::{ApplicationSpec, Congestion, PatternSpec, Refusal, Rendezvous, ServiceAddress, ServiceSpec};
use middlemark_credentials::SecretFolder;
use middlemark_runtime::Options;

pub(crate) use self::secured::BRIDGE_PASSWORD;
use self::secured::Secured;

/// The service's name.
const BROKER: &str = "broker";

/// A line of the configuration file: a name of Mosquitto's, and its value.
pub(crate) type Line = (&'static str, String);

/// The address of the broker that an application uses: the nearest.
pub(crate) fn address_for(spec: &ApplicationSpec) -> Result<IpAddr, Refusal> {
    index_for(spec).map(|(address, _)| address).ok_or_else(|| Refusal {
        capability: "spec".into(),
        reason: "MQTT needs a broker, and the spec's services name none".into(),
    })
}

/// Refuses what keeps a bridge from ever being made: Mosquitto sends the number as MQTT 5's receive maximum, which must not
/// be 0, and the other broker closes the connection.
pub(crate) fn accept_bridges(options: &Options) -> Result<(), Refusal> {
    let unbounded = options.integer("broker_max_inflight_messages") == 0;
    if options.text("bridge_protocol") == "mqttv50" && unbounded {
        return Err(Refusal {
            capability: "option".into(),
            reason: "bridge_protocol 'mqttv50' needs broker_max_inflight_messages from 1 on".into(),
        });
    }
    Ok(())
}

/// Refuses requests that a bridge would strip of their response topics, which only MQTT 5 has. Who uses the first broker
/// needs no bridge, unless somebody else uses another.
pub(crate) fn accept_requests(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    let mut streams = spec.streams.iter();
    let asks = streams.any(|stream| matches!(stream.pattern, PatternSpec::RequestResponse { .. }));
    let uses_another = index_for(spec).is_some_and(|(_, index)| index > 0);
    if asks && uses_another && options.text("bridge_protocol") == "mqttv311" {
        return Err(Refusal {
            capability: "option".into(),
            reason: "requests between linked brokers need bridge_protocol 'mqttv50': a bridge of MQTT 3.1.1 passes no response \
                     topics"
                .into(),
        });
    }
    Ok(())
}

/// The address and number of the broker that an application uses.
pub(crate) fn index_for(spec: &ApplicationSpec) -> Option<(IpAddr, u16)> {
    let nearest = spec.services.iter().find(|service| service.service == BROKER);
    nearest.map(|broker| (broker.address, broker.index))
}

/// A broker's port: from the end of the trial's range, as endpoints count from its beginning.
pub(crate) fn port(rendezvous: &Rendezvous, index: u16) -> u16 {
    rendezvous.first_port + rendezvous.ports - 1 - index
}

/// A broker's Unix socket.
pub(crate) fn socket(rendezvous: &Rendezvous, index: u16) -> PathBuf {
    rendezvous.folder.join(format!("mosquitto-{index}.sock"))
}

/// The lines of its configuration: of the broker, of each listener, of each bridge. `secrets` has the files of a broker that
/// is not open to all.
pub(crate) fn settings(
    spec: &ServiceSpec,
    options: &Options,
    secrets: Option<&SecretFolder>,
) -> Result<Vec<Line>, String> {
    let secured = Secured::of(spec, secrets);
    let mut settings = of_broker(spec, options);
    settings.extend(secured.into_iter().flat_map(Secured::of_broker));
    for place in listeners(spec, options) {
        settings.push(("listener", place));
        settings.extend(secured.into_iter().flat_map(Secured::of_listener));
    }
    for broker in spec.connects_to() {
        settings.extend(bridge(spec, broker, options));
        let own = secured.map(|secured| secured.of_bridge(spec.index)).transpose()?;
        settings.extend(own.into_iter().flatten());
    }
    Ok(settings)
}

fn of_broker(spec: &ServiceSpec, options: &Options) -> Vec<Line> {
    let mut settings = vec![
        // As root it would become the user `mosquitto`, who can't enter the trial's folder; for others this has no effect.
        ("user", "root".to_owned()),
        ("log_dest", "stderr".to_owned()),
        ("log_timestamp", "false".to_owned()),
        ("allow_anonymous", spec.security.is_none().to_string()),
        ("set_tcp_nodelay", options.boolean("broker_tcp_nodelay").to_string()),
        (
            "max_inflight_messages",
            options.integer("broker_max_inflight_messages").to_string(),
        ),
        // As shipped 1000, and no maximum of bytes: the QoS names bytes.
        ("max_queued_messages", "0".to_owned()),
        ("max_queued_bytes", queued_bytes(spec).to_string()),
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

/// What a broker queues for a slow subscriber before it drops, 0 for no maximum: it can't hold a publisher back, so that
/// it may drop nothing where one blocks.
fn queued_bytes(spec: &ServiceSpec) -> u64 {
    match spec.congestion {
        Congestion::Block => 0,
        Congestion::Drop => spec.queued_bytes(),
    }
}

/// Where it listens: on each of its host's addresses, or on its one socket.
fn listeners(spec: &ServiceSpec, options: &Options) -> Vec<String> {
    if options.text("transport") == "unix" {
        return vec![format!("0 {}", socket(&spec.rendezvous, spec.index).display())];
    }
    let port = port(&spec.rendezvous, spec.index);
    spec.addresses
        .iter()
        .map(|address| format!("{port} {address}"))
        .collect()
}

/// A bridge to another broker, over which every message goes both ways as it was published; the other side has no
/// setting for it. What is not mentioned here is as shipped.
fn bridge(spec: &ServiceSpec, broker: &ServiceAddress, options: &Options) -> [Line; 5] {
    let name = format!("{}_{}_{}", spec.rendezvous.name, spec.index, broker.index);
    let place = SocketAddr::new(broker.address, port(&spec.rendezvous, broker.index));
    [
        // It opens the bridge's section: what follows is said of it.
        ("connection", name),
        ("address", place.to_string()),
        // Level 2 is the most that passes: a message keeps its own.
        ("topic", "# both 2".into()),
        // Has the other broker know a bridge by its protocol, and send it nothing back that has come from it.
        ("try_private", "true".into()),
        ("bridge_protocol_version", options.text("bridge_protocol").into()),
    ]
}

/// The configuration file.
pub(crate) fn render(settings: &[Line]) -> String {
    let lines: Vec<_> = settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests;
