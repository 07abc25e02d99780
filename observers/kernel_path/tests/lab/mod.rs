//! Two network namespaces joined by a veth pair, what runs in them, and who watches; gone with the test.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use middlemark_lab::namespace::Namespace;
use middlemark_lab::speaker::{Speaker, refusal};
use serde_json::{Value, json};

pub(crate) mod traffic;

const OBSERVER: &str = env!("CARGO_BIN_EXE_middlemark-kernel-path");

/// Two hosts, 10.98.0.1 and 10.98.0.2.
pub(crate) struct Lab {
    hosts: [Namespace; 2],
}

impl Lab {
    /// Makes it, or says why it can't be had.
    pub(crate) fn make() -> Result<Self, String> {
        let check = Command::new(OBSERVER)
            .arg("check")
            .output()
            .map_err(|error| error.to_string())?;
        if !check.status.success() {
            return Err(String::from_utf8_lossy(&check.stderr).trim().to_owned());
        }
        let hosts = [Namespace::make(None)?, Namespace::make(None)?];
        let other = hosts[1].id();
        hosts[0].run(&format!("ip link add eth0 type veth peer name eth0 netns {other}"))?;
        for (host, address) in hosts.iter().zip(["10.98.0.1/24", "10.98.0.2/24"]) {
            host.run(&format!("ip address add {address} dev eth0 && ip link set eth0 up"))?;
        }
        Ok(Self { hosts })
    }

    /// A sender that sends once it is told to, and a receiver that waits already.
    pub(crate) fn datagrams(&self, count: usize, size_bytes: u32) -> (Speaker, Speaker) {
        self.traffic(["send", "receive"], count, size_bytes)
    }

    /// The same with a stream, written piece by piece.
    pub(crate) fn stream(&self, pieces: usize, size_bytes: u32) -> (Speaker, Speaker) {
        self.traffic(["pour", "drain"], pieces, size_bytes)
    }

    /// A sender of frames of which no tracepoint tells.
    pub(crate) fn unseen(&self, count: usize, size_bytes: u32) -> Speaker {
        let told = format!("{count} {size_bytes}");
        let mut sender = Speaker::start(&mut traffic::part(self.hosts[0].enter(), "slip", &told));
        assert_eq!(sender.hear(), "waiting");
        sender
    }

    fn traffic(&self, [sending, receiving]: [&str; 2], count: usize, size_bytes: u32) -> (Speaker, Speaker) {
        let told = format!("{count} {size_bytes}");
        let mut receiver = Speaker::start(&mut traffic::part(self.hosts[1].enter(), receiving, &told));
        assert_eq!(receiver.hear(), "waiting");
        let mut sender = Speaker::start(&mut traffic::part(self.hosts[0].enter(), sending, &told));
        assert_eq!(sender.hear(), "waiting");
        (sender, receiver)
    }

    pub(crate) fn shell(&self) -> Speaker {
        Speaker::start(self.hosts[0].enter().arg("sh"))
    }
}

/// A record of a recording; the fields stand in its header in this order.
#[derive(Debug, Clone, Copy)]
#[expect(dead_code, reason = "some fields only show in the message of a test that fails")]
pub(crate) struct Event {
    pub(crate) at_ns: u64,
    pub(crate) subject: u64,
    pub(crate) other: u64,
    pub(crate) value: i64,
    pub(crate) process: u32,
    pub(crate) thread: u32,
    pub(crate) ports: u32,
    pub(crate) mark: u32,
    pub(crate) length: u32,
    pub(crate) kind: u16,
}

const FIELDS: &str = "[('at_ns', '<u8'), ('subject', '<u8'), ('other', '<u8'), ('value', '<i8'), ('process', '<u4'), \
    ('thread', '<u4'), ('ports', '<u4'), ('mark', '<u4'), ('length', '<u4'), ('kind', '<u2'), ('cpu', '<u2'), ]";
const EVENT_BYTES: usize = 56;

impl Event {
    fn read(bytes: &[u8]) -> Self {
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        Self {
            at_ns: long(0),
            subject: long(8),
            other: long(16),
            value: long(24) as i64,
            process: word(32),
            thread: word(36),
            ports: word(40),
            mark: word(44),
            length: word(48),
            kind: word(52) as u16,
        }
    }
}

/// A running observer.
pub(crate) struct Observation {
    observer: Speaker,
    path: PathBuf,
}

impl Observation {
    pub(crate) fn begin(processes: &[u32]) -> Self {
        Self::begin_beside(processes, &[])
    }

    /// The same where packets also pass through the namespaces of other processes.
    pub(crate) fn begin_beside(processes: &[u32], switches: &[u32]) -> Self {
        let path = temporary("npy");
        let mut observer = Speaker::start(&mut Command::new(OBSERVER));
        observer.say(&json!({"recording": path, "processes": processes, "switches": switches}));
        assert_eq!(observer.event()["event"], "ready");
        Self { observer, path }
    }

    /// What was recorded, in the order of time, and the last event.
    pub(crate) fn end(mut self) -> (Vec<Event>, Value) {
        self.observer.say(r#"{"command": "stop"}"#);
        let done = self.observer.event();
        let bytes = fs::read(&self.path).expect("the recording");
        fs::remove_file(&self.path).expect("the recording");
        let header_bytes = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = String::from_utf8_lossy(&bytes[..header_bytes]);
        assert!(header.contains(FIELDS), "{header}");
        let mut events: Vec<Event> = bytes[header_bytes..].chunks(EVENT_BYTES).map(Event::read).collect();
        events.sort_by_key(|event| event.at_ns);
        (events, done)
    }
}

/// How much a recording lacks by its last event, for whatever reason.
pub(crate) fn lost(done: &Value) -> u64 {
    let by_reason = done["lost"].as_object().expect("it says why");
    by_reason.values().filter_map(Value::as_u64).sum()
}

/// The exit status after one line on standard input.
pub(crate) fn status_when_told(line: &str) -> Option<i32> {
    refusal(&mut Command::new(OBSERVER), line).0
}

/// `perf record` of the packets of all processes.
pub(crate) struct Perf {
    child: Option<Child>,
    path: PathBuf,
}

/// A packet that perf saw.
pub(crate) struct Packet {
    pub(crate) name: String,
    pub(crate) thread: u32,
    pub(crate) address: u64,
}

impl Perf {
    /// A second witness of all packets of this machine, from now on.
    pub(crate) fn begin() -> Result<Self, String> {
        let path = temporary("perf");
        let (control, child_control) = (temporary("ctl"), temporary("ack"));
        for pipe in [&control, &child_control] {
            let made = Command::new("mkfifo").arg(pipe).status();
            made.map_err(|error| error.to_string())?;
        }
        let child = Command::new("perf")
            .args([
                "record",
                "--quiet",
                "--all-cpus",
                "--mmap-pages",
                "1024",
                "--delay=-1",
                "--output",
            ])
            .arg(&path)
            .args([
                "-e",
                "net:net_dev_queue,net:net_dev_start_xmit,net:netif_receive_skb",
                "--control",
            ])
            .arg(format!("fifo:{},{}", control.display(), child_control.display()))
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        fs::write(&control, "enable\n").map_err(|error| error.to_string())?;
        let mut answer = String::new();
        let acknowledged = fs::File::open(&child_control).map(BufReader::new);
        let mut acknowledged = acknowledged.map_err(|error| error.to_string())?;
        acknowledged.read_line(&mut answer).map_err(|error| error.to_string())?;
        for pipe in [&control, &child_control] {
            fs::remove_file(pipe).map_err(|error| error.to_string())?;
        }
        assert!(answer.contains("ack"), "{answer}");
        Ok(Self {
            child: Some(child),
            path,
        })
    }

    /// Ends it, and reads what it has seen in the order of time.
    pub(crate) fn end_and_read(&mut self) -> Result<Vec<Packet>, String> {
        self.end();
        let script = Command::new("perf")
            .args(["script", "--fields", "tid,event,trace", "--input"])
            .arg(&self.path)
            .output()
            .map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&script.stdout);
        Ok(text.lines().filter_map(packet).collect())
    }

    fn end(&mut self) {
        if let Some(mut child) = self.child.take() {
            let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            told.and_then(|_| child.wait()).expect("its own child");
        }
    }
}

impl Drop for Perf {
    fn drop(&mut self) {
        self.end();
        drop(fs::remove_file(&self.path));
    }
}

/// A line such as ` 1234 net:net_dev_queue: dev=eth0 skbaddr=0xffff888100000000 len=106`.
fn packet(line: &str) -> Option<Packet> {
    let mut words = line.split_whitespace();
    let thread = words.next()?.parse().ok()?;
    let name = words.next()?.trim_end_matches(':').to_owned();
    let address = words.find_map(|word| word.strip_prefix("skbaddr="))?;
    let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).ok()?;
    Some(Packet { name, thread, address })
}

fn temporary(extension: &str) -> PathBuf {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("middlemark-path-{}-{number}.{extension}", std::process::id()))
}
