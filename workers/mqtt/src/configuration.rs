//! Where a broker is found, and the configuration file that it is given.
//!
//! Pure: `broker` writes the file and starts it, `session` connects to it.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use middlemark_contract::{ApplicationSpec, Congestion, PatternSpec, Refusal, Rendezvous, ServiceAddress, ServiceSpec};
use middlemark_runtime::Options;

/// The service's name.
const BROKER: &str = "broker";

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

/// The lines of its configuration, by Mosquitto's own names.
pub(crate) fn settings(spec: &ServiceSpec, options: &Options) -> Vec<(&'static str, String)> {
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
    settings.extend(listeners(spec, options).into_iter().map(|place| ("listener", place)));
    settings.extend(spec.connects_to().flat_map(|broker| bridge(spec, broker, options)));
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

/// Refuses a publisher that nothing but a waiting publish call holds back: the broker takes all that comes.
pub(crate) fn accept_patterns(spec: &ApplicationSpec) -> Result<(), Refusal> {
    match spec
        .streams
        .iter()
        .find(|stream| stream.is_held_back_by_waiting_alone())
    {
        None => Ok(()),
        Some(stream) => Err(Refusal {
            capability: "congestion".into(),
            reason: format!(
                "block on the unthrottled stream '{}': a broker holds no publisher back for a slower subscriber, it queues \
                 what comes; ask for drop, or for no more messages than the queue has room for",
                stream.name
            ),
        }),
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
fn bridge(spec: &ServiceSpec, broker: &ServiceAddress, options: &Options) -> [(&'static str, String); 5] {
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
pub(crate) fn render(settings: &[(&str, String)]) -> String {
    let lines: Vec<_> = settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use middlemark_contract::OptionValue;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn broker(index: u16, address: [u8; 4]) -> serde_json::Value {
        json!({ "service": BROKER, "index": index, "address": IpAddr::from(address) })
    }

    fn rendered(addresses: &[&str], services: &[serde_json::Value]) -> String {
        rendered_for(Congestion::Drop, addresses, services)
    }

    fn rendered_for(congestion: Congestion, addresses: &[&str], services: &[serde_json::Value]) -> String {
        let spec = serde_json::from_value(json!({
            "contract_version": 1, "service": BROKER, "index": 1, "addresses": addresses, "interface": "eth0",
            "rendezvous": {
                "name": "t", "token": 1, "domain": 0, "first_port": 7550, "ports": 100, "folder": "/tmp/t",
            },
            "services": services, "profile": "default", "options": {}, "clock_offset_ns": 0, "largest_message_bytes": 1000,
            "queue_bytes": 4000, "congestion": congestion, "patience_ns": 0,
            "placement": { "cpus": [], "scheduling": { "kind": "other" }, "spin_ns": 0 },
        }));
        let options = Options::resolve(&crate::description::describe(), "default", &BTreeMap::new());
        render(&settings(&spec.unwrap(), &options.unwrap()))
    }

    #[test]
    fn a_broker_listens_on_each_address_of_its_host() {
        let text = rendered(&["10.0.0.2", "10.0.1.2"], &[]);
        assert!(
            text.contains("listener 7648 10.0.0.2\nlistener 7648 10.0.1.2\n"),
            "{text}"
        );
        assert!(!text.contains("connection"), "{text}");
    }

    #[test]
    fn a_broker_drops_beyond_the_queue_unless_a_stream_blocks() {
        let limit = |congestion| rendered_for(congestion, &["10.0.0.2"], &[]);
        assert!(limit(Congestion::Drop).contains("max_queued_messages 0\nmax_queued_bytes 4000\n"));
        assert!(limit(Congestion::Block).contains("max_queued_messages 0\nmax_queued_bytes 0\n"));
    }

    #[test]
    fn of_two_linked_brokers_the_later_one_alone_has_a_bridge() {
        let text = rendered(&["10.0.1.2"], &[broker(0, [10, 0, 1, 1]), broker(2, [10, 0, 1, 3])]);
        let bridge = "connection t_1_0\naddress 10.0.1.1:7649\ntopic # both 2\ntry_private true\n\
                      bridge_protocol_version mqttv311\n";
        assert!(text.ends_with(bridge), "{text}");
    }

    #[test]
    fn a_bridge_of_version_5_is_refused_where_messages_in_flight_have_no_bound() {
        let resolved = |profile: &str, protocol: &str| {
            let set = [("bridge_protocol".to_owned(), OptionValue::Text(protocol.into()))];
            Options::resolve(&crate::description::describe(), profile, &set.into()).unwrap()
        };
        let accepted = |profile, protocol| accept_bridges(&resolved(profile, protocol)).is_ok();
        assert_eq!(
            [
                accepted("tuned", "mqttv50"),
                accepted("default", "mqttv50"),
                accepted("tuned", "mqttv311")
            ],
            [false, true, true]
        );
    }

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
