//! Two hosts and a switch as anonymous network namespaces, gone with the processes that hold them.
//!
//! `A eth0 — host_side [relay] network_side — eth0 B`; the relay runs in the switch's namespace, the probe in A and B.

use std::path::{Path, PathBuf};

use middlemark_lab::namespace::Namespace;
use middlemark_lab::speaker::Speaker;
use serde_json::{Value, json};

const RELAY: &str = env!("CARGO_BIN_EXE_middlemark-relay");
const ADDRESSES: [&str; 2] = ["10.99.0.1", "10.99.0.2"];

/// The laboratory: namespaces, and the answering probe in B.
pub(crate) struct Lab {
    hosts: [Namespace; 2],
    switch: Namespace,
    answering: Option<Speaker>,
    port: u16,
}

impl Lab {
    /// The reason when this machine can't have one.
    pub(crate) fn make() -> Result<Self, String> {
        let switch = Namespace::make(None)?;
        let hosts = [Namespace::make(Some(&switch))?, Namespace::make(Some(&switch))?];
        for ((host, end), address) in hosts.iter().zip(["host_side", "network_side"]).zip(ADDRESSES) {
            switch.run(&format!(
                "ip link add {end} type veth peer name eth0 netns {}",
                host.id()
            ))?;
            switch.run(&format!("{RELAY} whole-frames {end}; ip link set {end} up"))?;
            host.run(&format!(
                "{RELAY} whole-frames eth0; ip address add {address}/24 dev eth0; ip link set eth0 up"
            ))?;
        }
        let mut lab = Self {
            hosts,
            switch,
            answering: None,
            port: 0,
        };
        let mut command = lab.hosts[1].enter();
        command.arg(probe());
        let mut answering = Speaker::start(command.args(["answer", "--address", ADDRESSES[1], "--port", "0"]));
        let ready = answering.event();
        let address = ready["address"].as_str().expect("an address");
        lab.port = address
            .rsplit(':')
            .next()
            .and_then(|port| port.parse().ok())
            .expect("a port");
        lab.answering = Some(answering);
        Ok(lab)
    }

    /// Starts a relay with these directions and whatever else its spec holds.
    pub(crate) fn relay(&self, mut spec: Value) -> (Speaker, Value) {
        spec["host_side"] = "host_side".into();
        spec["network_side"] = "network_side".into();
        spec["seed"] = 7.into();
        let mut relay = Speaker::start(self.switch.enter().arg(RELAY));
        relay.say(&spec);
        let ready = relay.event();
        assert_eq!(ready["event"], "ready");
        (relay, ready)
    }

    /// Measures from A to B.
    pub(crate) fn measure(&self, parts: &Value) -> Value {
        let mut spec = json!({"to": ADDRESSES[1], "port": self.port});
        spec.as_object_mut()
            .expect("an object")
            .extend(parts.as_object().expect("an object").clone());
        let mut measuring = Speaker::start(self.hosts[0].enter().arg(probe()).arg("measure"));
        measuring.say(&spec);
        measuring.end()
    }

    /// Runs a line of shell in the switch's namespace.
    pub(crate) fn at_switch(&self, line: &str) -> Result<(), String> {
        self.switch.run(line)
    }
}

/// The probe is built beside the relay.
fn probe() -> PathBuf {
    let path = Path::new(RELAY).with_file_name("middlemark-probe");
    assert!(
        path.exists(),
        "{} is missing: build it first, `cargo build -p middlemark-probe`",
        path.display()
    );
    path
}
