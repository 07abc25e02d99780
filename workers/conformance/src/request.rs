//! What a check asks of a worker: streams, their endpoints and QoS; rendered into the specs of the contract.
//!
//! It asks only for what the worker's description offers, and starts nothing.

use middlemark_contract::{
    ApplicationSpec, Arrival, CONTRACT_VERSION, Congestion, Durability, Endpoint, EndpointAddress, History, NodeSpec,
    PatternSpec, Placement, Qos, Recording, Reliability, Role, Scheduling, ServiceAddress, StreamSpec,
};

use crate::case::Case;
use crate::place::{ADDRESS, INTERFACE, Place};

/// The application that holds both ends where they share a process.
const TOGETHER: &str = "both";

/// The streams of a trial and how they are laid out.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) streams: Vec<StreamSpec>,
    /// What computes between the streams, by application.
    pub(crate) nodes: Vec<(String, NodeSpec)>,
    pub(crate) verify: bool,
    pub(crate) samples: u64,
    pub(crate) window_ns: u64,
}

impl Request {
    /// One stream, 1 kB at 200 Hz for half a second, one publisher and one subscriber, as reliable as the worker offers.
    pub(crate) fn new(case: &Case) -> Request {
        Request {
            streams: vec![StreamSpec {
                name: "stream_0".into(),
                size_bytes: case.fitting(1000),
                pattern: periodic(200.0),
                payload: None,
                recorded: None,
                messages: None,
                qos: best_qos(case),
                publishers: addresses("publisher", 1),
                subscribers: addresses("subscriber", 1),
            }],
            nodes: Vec::new(),
            verify: true,
            samples: 100_000,
            window_ns: 500_000_000,
        }
    }

    pub(crate) fn size(self, size_bytes: u64) -> Request {
        self.each(|stream| stream.size_bytes = size_bytes)
    }

    pub(crate) fn pattern(self, pattern: PatternSpec) -> Request {
        self.each(|stream| stream.pattern = pattern)
    }

    pub(crate) fn qos(self, change: impl Fn(&mut Qos)) -> Request {
        self.each(|stream| change(&mut stream.qos))
    }

    /// So many endpoints, each in an application of its own.
    pub(crate) fn endpoints(self, publishers: u16, subscribers: u16) -> Request {
        self.each(|stream| {
            stream.publishers = addresses("publisher", publishers);
            stream.subscribers = addresses("subscriber", subscribers);
        })
    }

    /// All endpoints in one application.
    pub(crate) fn together(self) -> Request {
        self.each(|stream| {
            for endpoint in stream.publishers.iter_mut().chain(&mut stream.subscribers) {
                endpoint.application = TOGETHER.into();
            }
        })
    }

    /// Further streams like the first, of these sizes.
    pub(crate) fn and_sizes(mut self, sizes_bytes: &[u64]) -> Request {
        for (size_bytes, number) in sizes_bytes.iter().zip(1..) {
            self.streams.push(StreamSpec {
                name: format!("stream_{number}"),
                size_bytes: *size_bytes,
                ..self.streams[0].clone()
            });
        }
        self
    }

    pub(crate) fn each(mut self, change: impl Fn(&mut StreamSpec)) -> Request {
        self.streams.iter_mut().for_each(change);
        self
    }

    /// Whether every message has to arrive.
    pub(crate) fn is_reliable(&self) -> bool {
        self.streams.iter().all(|stream| {
            let scheduled = matches!(
                stream.pattern,
                PatternSpec::Periodic { .. }
                    | PatternSpec::PingPong { .. }
                    | PatternSpec::RequestResponse { .. }
                    | PatternSpec::Computed { .. }
            );
            stream.qos.reliability == Reliability::Reliable && (scheduled || stream.qos.congestion == Congestion::Block)
        })
    }

    /// Whether a publisher waits where there is no room, in place of being refused on a busy machine.
    pub(crate) fn waits_for_room(&self) -> bool {
        self.streams.iter().all(|stream| stream.qos.blocks())
    }

    /// The names of all applications, subscribers before publishers.
    pub(crate) fn applications(&self) -> Vec<String> {
        let subscribers = self.streams.iter().flat_map(|stream| &stream.subscribers);
        let publishers = self.streams.iter().flat_map(|stream| &stream.publishers);
        let mut names = Vec::new();
        for address in subscribers.chain(publishers) {
            if !names.contains(&address.application) {
                names.push(address.application.clone());
            }
        }
        names
    }

    /// The spec of one application.
    pub(crate) fn spec(&self, case: &Case, place: &Place, services: &[ServiceAddress], name: &str) -> ApplicationSpec {
        ApplicationSpec {
            contract_version: CONTRACT_VERSION,
            application: name.into(),
            address: ADDRESS,
            interface: INTERFACE.into(),
            rendezvous: place.rendezvous.clone(),
            services: services.to_vec(),
            profile: case.variant.profile().into(),
            options: case.worker.set_by_spec(&case.variant),
            delivery: case.worker.delivery(&case.variant),
            streams: self.streams.clone(),
            endpoints: self.held_by(name),
            nodes: self.executed_by(name),
            clock_offset_ns: 0,
            verify: self.verify,
            recording: Recording {
                samples: self.samples,
                messages: 100_000,
                late_after_ns: 20_000_000_000,
                folder: place.samples(),
            },
            placement: anywhere(),
            security: None,
        }
    }

    fn executed_by(&self, name: &str) -> Vec<NodeSpec> {
        let own = self.nodes.iter().filter(|(application, _)| application == name);
        own.map(|(_, node)| node.clone()).collect()
    }

    /// The endpoints that an application holds.
    pub(crate) fn held_by(&self, name: &str) -> Vec<Endpoint> {
        let mut held = Vec::new();
        for stream in &self.streams {
            for (role, addresses) in [
                (Role::Subscriber, &stream.subscribers),
                (Role::Publisher, &stream.publishers),
            ] {
                let own = (0..).zip(addresses).filter(|(_, address)| address.application == name);
                held.extend(own.map(|(index, _)| Endpoint {
                    stream: stream.name.clone(),
                    role,
                    index,
                }));
            }
        }
        held
    }
}

/// No wish about CPUs or scheduling.
pub(crate) fn anywhere() -> Placement {
    Placement {
        cpus: Vec::new(),
        scheduling: Scheduling::Other,
        spin_ns: 0,
    }
}

/// A fixed rate.
pub(crate) fn periodic(rate_hz: f64) -> PatternSpec {
    PatternSpec::Periodic {
        rate_hz,
        arrival: Arrival::Fixed,
    }
}

pub(crate) fn addresses(kind: &str, count: u16) -> Vec<EndpointAddress> {
    (0..count)
        .map(|index| EndpointAddress {
            application: format!("{kind}_{index}"),
            address: ADDRESS,
        })
        .collect()
}

/// So many are kept where the oldest is overwritten: more than a busy machine lets wait.
const KEPT_MESSAGES: u32 = 1000;

/// The surest delivery that a worker offers.
fn best_qos(case: &Case) -> Qos {
    let capabilities = &case.worker.description.capabilities;
    let reliable = !case.best_effort && capabilities.reliabilities.contains(&Reliability::Reliable);
    let volatile = capabilities.durabilities.contains(&Durability::Volatile);
    let drops = (case.best_effort || case.overwriting) && capabilities.congestion.contains(&Congestion::Drop);
    let blocks = !drops && capabilities.congestion.contains(&Congestion::Block);
    Qos {
        reliability: if reliable {
            Reliability::Reliable
        } else {
            Reliability::BestEffort
        },
        durability: if volatile {
            Durability::Volatile
        } else {
            Durability::TransientLocal
        },
        congestion: if blocks { Congestion::Block } else { Congestion::Drop },
        history: if case.overwriting {
            History::KeepLast { depth: KEPT_MESSAGES }
        } else {
            Qos::BEST_EFFORT.history
        },
        ..Qos::BEST_EFFORT
    }
}
