//! OpenDDS's own configuration, rendered for one trial: what an option leaves as shipped is not mentioned in it.
//!
//! It renders text and writes no file; `session` hands it to the library, `description` says what each option means.

use std::net::IpAddr;

use middlemark_contract::{ApplicationSpec, Refusal};
use middlemark_runtime::Options;

/// The values of the option `transport`, as it is documented for RTPS first.
pub(crate) const TRANSPORTS: [&str; 2] = ["rtps_udp", "tcp"];

/// A number of the transport `rtps_udp`.
pub(crate) struct Number {
    pub(crate) option: &'static str,
    /// Its key in the transport's section.
    key: &'static str,
    pub(crate) shipped: i64,
    pub(crate) largest: i64,
    pub(crate) summary: &'static str,
}

/// All of them, with the values of the chapter *Run-time Configuration*; those of buffers are ACE's.
pub(crate) const NUMBERS: [Number; 5] = [
    Number {
        option: "socket_send_buffer_bytes",
        key: "send_buffer_size",
        shipped: 64 << 10,
        largest: 1 << 30,
        summary: "asked of the kernel, which grants at most wmem_max",
    },
    Number {
        option: "socket_receive_buffer_bytes",
        key: "rcv_buffer_size",
        shipped: 64 << 10,
        largest: 1 << 30,
        summary: "asked of the kernel for what comes by unicast; it grants at most rmem_max",
    },
    Number {
        option: "heartbeat_period_ms",
        key: "heartbeat_period",
        shipped: 1000,
        largest: 60_000,
        summary: "how often a reliable writer announces what it has",
    },
    Number {
        option: "heartbeat_response_delay_ms",
        key: "heartbeat_response_delay",
        shipped: 500,
        largest: 60_000,
        summary: "how long a reader waits until it answers an announcement",
    },
    Number {
        option: "nak_response_delay_ms",
        key: "nak_response_delay",
        shipped: 200,
        largest: 60_000,
        summary: "how long a writer waits until it sends again what was missed",
    },
];

impl Number {
    /// What the option does, in one sentence.
    pub(crate) fn sentence(&self) -> String {
        format!("{}: {}.", self.key, self.summary)
    }
}

/// How often a participant announces itself, as shipped.
pub(crate) const RESEND_PERIOD_S: i64 = 30;

/// Refuses what it can't be configured for.
///
/// # Errors
/// The refusal.
pub(crate) fn accept(spec: &ApplicationSpec) -> Result<(), Refusal> {
    if spec.address.is_ipv4() {
        return Ok(());
    }
    Err(Refusal {
        capability: "spec".into(),
        reason: format!(
            "OpenDDS is configured for IPv4 alone, the host's address is {}",
            spec.address
        ),
    })
}

/// The configuration file of an application of this trial, which uses the trial's interface alone.
pub(crate) fn render(spec: &ApplicationSpec, options: &Options) -> String {
    let common = section(
        "common",
        &[
            ("DCPSGlobalTransportConfig", "trial".into()),
            ("DCPSDefaultDiscovery", "trial".into()),
            // As shipped a writer whose reader was killed is never deleted.
            ("DCPSPendingTimeout", "1".into()),
        ],
    );
    let config = section("config/trial", &[("transports", "trial".into())]);
    let transport = if options.text("transport") == "tcp" {
        tcp(spec.address)
    } else {
        rtps_udp(spec, options)
    };
    common
        + &section("rtps_discovery/trial", &discovery(spec, options))
        + &config
        + &section("transport/trial", &transport)
}

type Settings = Vec<(&'static str, String)>;

fn discovery(spec: &ApplicationSpec, options: &Options) -> Settings {
    let mut settings = vec![
        ("SpdpLocalAddress", spec.address.to_string()),
        ("SedpLocalAddress", format!("{}:0", spec.address)),
        ("MulticastInterface", spec.interface.clone()),
    ];
    let period_s = options.integer("resend_period_s");
    if period_s != RESEND_PERIOD_S {
        settings.push(("ResendPeriod", period_s.to_string()));
    }
    settings
}

fn tcp(address: IpAddr) -> Settings {
    vec![
        ("transport_type", "tcp".into()),
        ("local_address", format!("{address}:0")),
    ]
}

fn rtps_udp(spec: &ApplicationSpec, options: &Options) -> Settings {
    let mut settings = vec![
        ("transport_type", "rtps_udp".into()),
        ("local_address", format!("{}:0", spec.address)),
    ];
    if options.boolean("use_multicast") {
        // As shipped it is one port in all domains, so that trials at the same time would burden each other.
        let group = format!("239.255.0.2:{}", spec.rendezvous.first_port);
        settings.extend([
            ("multicast_group_address", group),
            ("multicast_interface", spec.interface.clone()),
        ]);
    } else {
        settings.push(("use_multicast", "0".into()));
    }
    let changed = NUMBERS
        .iter()
        .map(|number| (number, options.integer(number.option)))
        .filter(|(number, value)| *value != number.shipped)
        .map(|(number, value)| (number.key, value.to_string()));
    settings.extend(changed);
    settings
}

fn section(name: &str, settings: &[(&str, String)]) -> String {
    let lines: Vec<_> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("[{name}]\n{}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use middlemark_contract::OptionValue;
    use serde_json::json;

    use super::*;

    fn spec() -> ApplicationSpec {
        let endpoint =
            |application: &str, host: u8| json!({ "application": application, "address": format!("10.0.0.{host}") });
        serde_json::from_value(json!({
            "contract_version": 3, "delivery": "own_thread", "application": "a", "address": "10.0.0.1", "interface": "eth0",
            "rendezvous": {
                "name": "t", "token": 1, "domain": 2, "first_port": 7550, "ports": 100, "folder": "/tmp",
            },
            "services": [], "profile": "default", "options": {}, "clock_offset_ns": 0,
            "streams": [{
                "name": "s", "size_bytes": 64, "pattern": { "kind": "unthrottled", "approach_hz": 1.0, "messages": null },
                "qos": {
                    "reliability": "reliable", "history": { "kind": "keep_all" }, "durability": "volatile",
                    "congestion": "block", "patience_ns": 0, "queue_bytes": 1, "level": null,
                },
                "publishers": [endpoint("a", 1)], "subscribers": [endpoint("b", 2)],
            }],
            "endpoints": [], "verify": false,
            "recording": { "samples": 1, "messages": 1, "late_after_ns": 1, "folder": "/tmp" },
            "placement": { "cpus": [], "scheduling": { "kind": "other" }, "spin_ns": 0 },
        }))
        .unwrap()
    }

    fn rendered(profile: &str, set: &[(&str, &str)]) -> String {
        let set: BTreeMap<_, _> = set
            .iter()
            .map(|(name, value)| ((*name).to_owned(), OptionValue::Text((*value).to_owned())))
            .collect();
        render(
            &spec(),
            &Options::resolve(&crate::description::describe(), profile, &set).unwrap(),
        )
    }

    #[test]
    fn the_default_profile_names_nothing_but_interface_and_ports() {
        assert_eq!(
            rendered("default", &[]),
            "[common]\nDCPSGlobalTransportConfig=trial\nDCPSDefaultDiscovery=trial\nDCPSPendingTimeout=1\n\
             [rtps_discovery/trial]\nSpdpLocalAddress=10.0.0.1\nSedpLocalAddress=10.0.0.1:0\nMulticastInterface=eth0\n\
             [config/trial]\ntransports=trial\n\
             [transport/trial]\ntransport_type=rtps_udp\nlocal_address=10.0.0.1:0\n\
             multicast_group_address=239.255.0.2:7550\nmulticast_interface=eth0\n"
        );
    }

    #[test]
    fn the_tuned_profile_sets_the_sockets_buffers() {
        let text = rendered("tuned", &[]);
        for buffer in ["send_buffer_size=4194304\n", "rcv_buffer_size=4194304\n"] {
            assert!(text.contains(buffer), "{text}");
        }
    }

    #[test]
    fn tcp_has_no_setting_of_rtps() {
        let text = rendered("tuned", &[("transport", "tcp")]);
        assert!(
            text.ends_with("[transport/trial]\ntransport_type=tcp\nlocal_address=10.0.0.1:0\n"),
            "{text}"
        );
    }

    #[test]
    fn an_address_of_ipv6_is_refused() {
        let six = ApplicationSpec {
            address: "fd00::1".parse().unwrap(),
            ..spec()
        };
        assert!(accept(&six).unwrap_err().reason.contains("fd00::1"));
        assert_eq!(accept(&spec()), Ok(()));
    }
}
