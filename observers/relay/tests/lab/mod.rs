//! Two hosts and a switch as anonymous network namespaces, gone with the processes that hold them.
//!
//! `A eth0 — host_side [relay] network_side — eth0 B`; the relay runs in the switch's namespace, the probe in A and B.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const RELAY: &str = env!("CARGO_BIN_EXE_middlemark-relay");
const ADDRESSES: [&str; 2] = ["10.99.0.1", "10.99.0.2"];

/// A process that is spoken to by lines; it ends when its standard input does.
pub(crate) struct Speaker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Speaker {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, input, output }
    }

    pub(crate) fn say(&mut self, line: &Value) {
        writeln!(self.input.as_mut().expect("not ended"), "{line}").expect("it listens");
    }

    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it speaks");
        line.trim().to_owned()
    }

    pub(crate) fn event(&mut self) -> Value {
        let line = self.hear();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("no event ({error}): {line:?}"))
    }

    /// Ends its input and waits for its end; gives the last event.
    pub(crate) fn end(mut self) -> Value {
        self.input.take();
        let event = self.event();
        assert!(self.child.wait().expect("it ends").success());
        event
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        self.input.take();
        self.child
            .kill()
            .and_then(|()| self.child.wait().map(|_| ()))
            .expect("its own child");
    }
}

/// A network namespace.
struct Namespace {
    holder: Speaker,
}

impl Namespace {
    /// Without root, all of them belong to the user namespace of the first.
    fn make(first: Option<&Self>) -> Result<Self, String> {
        let mut command = match first {
            Some(first) if !is_root() => {
                let mut command = Command::new("nsenter");
                command.args([
                    "--target",
                    &first.process(),
                    "--user",
                    "--preserve-credentials",
                    "unshare",
                    "--net",
                ]);
                command
            }
            _ => {
                let mut command = Command::new("unshare");
                command.args(if is_root() {
                    &["--net"][..]
                } else {
                    &["--user", "--map-root-user", "--net"][..]
                });
                command
            }
        };
        command
            .args(["sh", "-c", "echo ready; exec cat > /dev/null"])
            .stderr(Stdio::null());
        let mut holder = Speaker::start(&mut command);
        if holder.hear() != "ready" {
            return Err("network namespaces can't be made here (neither as root nor with user namespaces)".to_owned());
        }
        let namespace = Self { holder };
        // Frames that no test sent would be counted with those it did.
        namespace.run("for of in all default; do echo 1 > /proc/sys/net/ipv6/conf/$of/disable_ipv6; done")?;
        Ok(namespace)
    }

    fn process(&self) -> String {
        self.holder.child.id().to_string()
    }

    fn enter(&self, program: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.process(), "--net"]);
        if !is_root() {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.arg("--").arg(program);
        command
    }

    fn run(&self, line: &str) -> Result<(), String> {
        let output = self
            .enter(Path::new("sh"))
            .args(["-ec", line])
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}

fn is_root() -> bool {
    // SAFETY: asks for a number, changes nothing.
    unsafe { libc::geteuid() == 0 }
}

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
                host.process()
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
        let mut command = lab.hosts[1].enter(&probe());
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
        let mut relay = Speaker::start(&mut self.switch.enter(Path::new(RELAY)));
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
        let mut measuring = Speaker::start(self.hosts[0].enter(&probe()).arg("measure"));
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

/// What becomes of a relay that is told one line: its exit status, and what it says on standard error.
pub(crate) fn refusal(relay: &mut Command, line: &str) -> (Option<i32>, String) {
    let mut child = relay
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    writeln!(child.stdin.take().expect("piped"), "{line}").expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}
