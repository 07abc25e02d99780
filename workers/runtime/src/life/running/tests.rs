//! Starts that fail half-way, and clients after their window, over a middleware that only notes what becomes of it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Mutex;
use std::sync::mpsc::channel;

use middlemark_contract::{
    CONTRACT_VERSION, ComputeSpec, Delivery, Description, Effective, Endpoint, EndpointAddress, MessagePath, PaceSpec,
    PatternSpec, Placement, PortHolders, Recording, Refusal, Rendezvous, Role, Scheduling, ServiceSpec, StreamSpec,
};

use super::*;
use crate::harness;
use crate::message::channel::Channel;
use crate::message::exchange::Exchange;
use crate::middleware::Service;
use crate::options::Options;
use crate::process::inbox::Note;
use crate::process::usage;
use crate::receive::receiver::Receiver;
use crate::send::matched::Matched;
use crate::send::publish::{Publish, PublishError, Publisher};

/// What became of a session and of its publishers, in order.
type Notebook = Arc<Mutex<Vec<&'static str>>>;

struct Fake {
    notebook: Notebook,
    /// The topic and the role whose endpoint can't be made.
    refused: (&'static str, Role),
}

struct FakeSession(Fake, Vec<Receiver>);

struct FakePublisher(Notebook);

impl Middleware for Fake {
    fn describe(&self) -> Description {
        unreachable!("accepted without it")
    }

    fn accept(&self, _: &ApplicationSpec, _: &Options) -> Result<(), Refusal> {
        Ok(())
    }

    fn open(&self, _: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        let fake = Fake {
            notebook: Arc::clone(&self.notebook),
            refused: self.refused,
        };
        Ok(Box::new(FakeSession(fake, Vec::new())))
    }

    fn serve(&self, _: &ServiceSpec, _: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        Err("no service".into())
    }
}

impl FakeSession {
    fn make(&self, channel: &Channel, role: Role) -> Result<(), MiddlewareError> {
        if (channel.topic.as_str(), role) == self.0.refused {
            return Err(format!("no endpoint of {}", channel.topic).into());
        }
        Ok(())
    }
}

impl Session for FakeSession {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        self.make(channel, Role::Subscriber)?;
        self.1.push(receiver);
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel, _: Matched) -> Result<Publisher, MiddlewareError> {
        self.make(channel, Role::Publisher)?;
        Ok(Publisher::Copying(Box::new(FakePublisher(Arc::clone(
            &self.0.notebook,
        )))))
    }

    fn client(&mut self, exchange: &Exchange<'_>, _: Receiver, found: Matched) -> Result<Publisher, MiddlewareError> {
        self.publisher(exchange.requests, found)
    }

    fn effective(&self) -> Effective {
        Effective {
            transport: "none".into(),
            paths: vec![MessagePath::SharedMemory],
            delivery: Delivery::OwnThread,
            receive_mode: "none".into(),
            zero_copy: false,
            security: None,
            settings: std::collections::BTreeMap::new(),
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        self.0.notebook.lock().unwrap().push("session closed");
        Ok(())
    }
}

impl Publish for FakePublisher {
    fn publish(&mut self, _: &[u8]) -> Result<(), PublishError> {
        Ok(())
    }
}

impl Drop for FakePublisher {
    fn drop(&mut self) {
        self.0.lock().unwrap().push("publisher dropped");
    }
}

fn stream(name: &str) -> StreamSpec {
    let address = EndpointAddress {
        application: "a".into(),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
    };
    StreamSpec {
        name: name.into(),
        size_bytes: 100,
        pattern: PatternSpec::Unthrottled {
            approach_hz: 1.0,
            messages: None,
        },
        payload: None,
        recorded: None,
        messages: None,
        qos: harness::channel(100).qos,
        publishers: vec![address.clone()],
        subscribers: vec![address],
    }
}

/// An application that subscribes to and publishes each of these streams.
fn spec(streams: &[&str]) -> ApplicationSpec {
    let endpoint = |stream: &&str, role| Endpoint {
        stream: (*stream).into(),
        role,
        index: 0,
    };
    let subscribers = streams.iter().map(|stream| endpoint(stream, Role::Subscriber));
    let publishers = streams.iter().map(|stream| endpoint(stream, Role::Publisher));
    ApplicationSpec {
        contract_version: CONTRACT_VERSION,
        application: "a".into(),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        interface: "lo".into(),
        rendezvous: Rendezvous {
            name: "r".into(),
            token: 1,
            domain: 0,
            first_port: 1000,
            ports: 100,
            folder: "/".into(),
        },
        services: Vec::new(),
        profile: "default".into(),
        options: std::collections::BTreeMap::new(),
        delivery: Delivery::OwnThread,
        streams: streams.iter().map(|name| stream(name)).collect(),
        endpoints: subscribers.chain(publishers).collect(),
        nodes: Vec::new(),
        clock_offset_ns: 0,
        verify: false,
        recording: Recording {
            samples: 10,
            messages: 10,
            late_after_ns: 1,
            folder: "/".into(),
        },
        placement: Placement {
            cpus: Vec::new(),
            scheduling: Scheduling::Other,
            spin_ns: 0,
        },
        security: None,
    }
}

/// Starts an application over a session that makes all endpoints but one; whether it started.
fn start(
    notebook: &Notebook,
    spec: &ApplicationSpec,
    notes: &Notes,
    refused: (&'static str, Role),
) -> (Running, Result<(), MiddlewareError>) {
    let fake = Fake {
        notebook: Arc::clone(notebook),
        refused,
    };
    let options = Options::default();
    let channels = Channel::of(spec, PortHolders::Nothing).unwrap();
    let reserved = Reserved::new(spec, channels, notes).unwrap();
    let context = Context {
        spec,
        options: &options,
        channels: &reserved.channels,
    };
    let mut running = Running::initialise(&fake, &context).unwrap();
    let started = running.start(spec, notes, reserved);
    (running, started)
}

/// Starts an application of two streams where one endpoint can't be made; what became of it, and why.
fn start_in_vain(refused: (&'static str, Role)) -> (Vec<&'static str>, String) {
    let (notebook, spec) = (Notebook::default(), spec(&["first", "second"]));
    let (notes, _inbox) = channel();
    let (running, started) = start(&notebook, &spec, &notes, refused);
    drop(running);
    let became = std::mem::take(&mut *notebook.lock().unwrap());
    (became, started.unwrap_err().to_string())
}

#[test]
fn a_start_that_fails_at_a_subscriber_closes_the_session() {
    assert_eq!(
        start_in_vain(("r_2_second", Role::Subscriber)),
        (vec!["session closed"], "no endpoint of r_2_second".into())
    );
}

#[test]
fn a_session_is_closed_once_all_publishers_of_a_failed_start_have_ended() {
    let (became, _) = start_in_vain(("r_2_second", Role::Publisher));
    assert_eq!(became, ["publisher dropped", "session closed"]);
}

#[test]
fn a_client_of_a_server_lives_on_after_its_window_and_is_dropped_before_the_session_closes() {
    let (notebook, mut spec) = (Notebook::default(), spec(&["calls"]));
    spec.endpoints.retain(|endpoint| endpoint.role == Role::Publisher);
    spec.streams[0].pattern = PatternSpec::RequestResponse {
        pace: PaceSpec::Closed { approach_hz: 1000.0 },
        response_bytes: 100,
        outstanding: 1,
        timeout_ns: 1_000_000_000,
        server_time: ComputeSpec::Constant { time_ns: 0 },
        seed: 1,
    };
    let (notes, inbox) = channel();
    let (running, started) = start(&notebook, &spec, &notes, ("", Role::Publisher));
    started.unwrap();
    let now_ns = clock::now_ns();
    running.open(Window::joined_at(now_ns, now_ns, now_ns + 1_000_000));
    let is_over = |note: &Note| matches!(note, Note::Finished(_));
    let finished = inbox.iter().find(is_over);
    assert!(matches!(finished, Some(Note::Finished(Some(_)))), "{finished:?}");
    assert!(notebook.lock().unwrap().is_empty(), "it was dropped with its window");
    running.close().unwrap();
    assert_eq!(*notebook.lock().unwrap(), ["publisher dropped", "session closed"]);
}

#[test]
fn many_slow_streams_take_memory_for_the_messages_that_they_can_have() {
    let names: Vec<_> = (0..500).map(|number| format!("s{number}")).collect();
    let mut spec = spec(&names.iter().map(String::as_str).collect::<Vec<_>>());
    (spec.recording.samples, spec.recording.messages) = (20_000, 20_000);
    spec.streams.iter_mut().for_each(|stream| stream.messages = Some(20));
    let channels = Channel::of(&spec, PortHolders::Nothing).unwrap();
    let (notes, _inbox) = channel();
    let before_bytes = usage::resident_bytes().unwrap();
    let reserved = Reserved::new(&spec, channels, &notes).unwrap();
    let taken_bytes = usage::resident_bytes().unwrap().saturating_sub(before_bytes);
    assert_eq!((reserved.subscriptions.len(), reserved.publications.len()), (500, 500));
    // With places for all samples it would be more than a gigabyte.
    assert!(taken_bytes < 100 << 20, "{taken_bytes} bytes");
}
