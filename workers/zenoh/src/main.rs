//! The worker for Zenoh: sessions in mode peer, or in mode client through a router that this executable runs too.
//!
//! It only ties the parts together: `describe` says what there is, `configuration` turns a spec into Zenoh's own
//! configuration, `session` and `publisher` move messages, `router` is the service.

mod configuration;
mod description;
mod exchange;
mod leftovers;
mod pieces;
mod places;
mod publisher;
mod router;
mod security;
mod session;
mod settings;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use middlemark_contract::{
    ApplicationSpec, CredentialsRequest, CredentialsSet, Description, PortHolders, Refusal, Reliability, ServiceSpec,
    StreamSpec,
};
use middlemark_runtime::{Channel, Context, CredentialsError, Middleware, MiddlewareError, Options, Service, Session};

use crate::places::Places;
use crate::publisher::loans;

/// What the low latency transport carries over TCP: it does not split messages, and a larger one is lost without a word.
const LOWLATENCY_LARGEST_BYTES: u64 = 49_000;

/// What Zenoh's UDP links still carry, if not all of it (a third is lost at 100 Hz); of 4 MB nothing arrives.
const UDP_LARGEST_BYTES: u64 = 1 << 20;

/// The longest path that fits a Unix socket's address.
const SOCKET_PATH_BYTES: usize = 107;

/// An application listens at one place, whatever it holds.
const PORTS: PortHolders = PortHolders::Applications;

struct Zenoh;

impl Middleware for Zenoh {
    fn describe(&self) -> Description {
        description::describe()
    }

    fn accept(&self, spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
        let level = spec.security.as_ref().map(|security| security.level);
        let options = &security::kept(level, options, &spec.profile, &spec.options)?;
        security::accept(level, options, &spec.streams)?;
        let channels = Channel::of(spec, PORTS)?;
        let places = Places::of(spec, &channels);
        places.accept()?;
        accept_transport(spec, options, &places)?;
        accept_lowlatency(spec, options)?;
        accept_waiting(spec)?;
        spec.streams
            .iter()
            .try_for_each(|stream| accept_queue(stream, options))?;
        require(
            !options.boolean("zero_copy") || options.boolean("shared_memory"),
            "option",
            || "zero_copy writes into shared memory, and shared_memory is off".into(),
        )?;
        loans::accept(&channels, options, loans::lockable_bytes())?;
        require(
            options.text("mode") == "peer" || places.router().is_some(),
            "option",
            || "mode 'client' needs the service 'router', and the spec has none".into(),
        )
    }

    fn credentials(&self, request: &CredentialsRequest, options: &Options) -> Result<CredentialsSet, CredentialsError> {
        security::made(request, options)
    }

    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError> {
        log_to_standard_error();
        Ok(Box::new(session::ZenohSession::open(context)?))
    }

    fn serve(&self, spec: &ServiceSpec, options: &Options) -> Result<Box<dyn Service>, MiddlewareError> {
        log_to_standard_error();
        Ok(Box::new(router::Router::open(spec, options)?))
    }
}

fn accept_transport(spec: &ApplicationSpec, options: &Options, places: &Places) -> Result<(), Refusal> {
    match options.text("transport") {
        "unixsock-stream" => accept_unix_sockets(spec, places),
        "udp" => accept_udp(spec, options, places),
        _ => Ok(()),
    }
}

fn accept_unix_sockets(spec: &ApplicationSpec, places: &Places) -> Result<(), Refusal> {
    require(places.on_one_host(spec.address), "between_hosts", || {
        "transport 'unixsock-stream' does not reach another host".into()
    })?;
    let longest_bytes = places.longest_socket_path_bytes();
    require(longest_bytes <= SOCKET_PATH_BYTES, "spec", || {
        format!("the trial's folder makes a socket's path of {longest_bytes} bytes; there are {SOCKET_PATH_BYTES}")
    })
}

fn accept_udp(spec: &ApplicationSpec, options: &Options, places: &Places) -> Result<(), Refusal> {
    let reliable = |stream: &&StreamSpec| stream.qos.reliability == Reliability::Reliable;
    if let Some(stream) = spec.streams.iter().find(reliable) {
        return Err(Refusal {
            capability: "reliability".into(),
            reason: format!(
                "reliable for '{}': over UDP Zenoh sends nothing again, whatever a publisher's reliability says; ask for \
                 best_effort, or for another transport",
                stream.name
            ),
        });
    }
    let through_memory = options.boolean("shared_memory") && places.on_one_host(spec.address);
    let limit_bytes = match (through_memory, options.boolean("zero_copy")) {
        (true, true) => u64::MAX,
        // A message that finds no room in the pool goes over the link.
        (true, false) => UDP_LARGEST_BYTES.max(options.integer("shared_memory_pool_bytes") as u64 / 2),
        (false, _) => UDP_LARGEST_BYTES,
    };
    let largest_bytes = largest_message_bytes(spec);
    require(largest_bytes <= limit_bytes, "size_bytes", || {
        format!(
            "{largest_bytes}: over UDP Zenoh sends a message's pieces at once and none again, so that beyond \
             {limit_bytes} bytes hardly one arrives whole"
        )
    })
}

fn accept_lowlatency(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    let largest_bytes = largest_message_bytes(spec);
    let fits = !options.boolean("lowlatency") || largest_bytes <= LOWLATENCY_LARGEST_BYTES;
    require(fits, "size_bytes", || {
        format!(
            "{largest_bytes}: the low latency transport carries {LOWLATENCY_LARGEST_BYTES} bytes, as it does not \
             split messages"
        )
    })
}

fn accept_waiting(spec: &ApplicationSpec) -> Result<(), Refusal> {
    let blocking = || spec.streams.iter().filter(|stream| stream.qos.blocks());
    let best_effort = blocking().find(|stream| stream.qos.reliability == Reliability::BestEffort);
    require(best_effort.is_none(), "congestion", || {
        "block on a best-effort stream: where a link is full, Zenoh drops what is best effort whatever its congestion \
         control says; ask for reliable, or for drop"
            .into()
    })?;
    let patience: BTreeSet<_> = blocking().map(|stream| stream.qos.patience_ns).collect();
    require(patience.len() <= 1, "patience", || {
        let each: Vec<_> = patience
            .iter()
            .map(|ns| format!("{:?}", Duration::from_nanos(*ns)))
            .collect();
        format!(
            "{}: a session waits equally long for all streams that block (wait_before_close)",
            each.join(" and ")
        )
    })
}

fn accept_queue(stream: &StreamSpec, options: &Options) -> Result<(), Refusal> {
    let (qos, name) = (&stream.qos, &stream.name);
    let batches_bytes = (options.integer("queue_batches") * options.integer("batch_bytes")) as u64;
    let room_bytes = qos.queued_bytes(stream.size_bytes);
    require(batches_bytes <= room_bytes, "queue", || {
        format!(
            "{room_bytes} bytes for '{name}': a link queues batches of {batches_bytes} bytes together (queue_batches, \
             batch_bytes)"
        )
    })
}

fn largest_message_bytes(spec: &ApplicationSpec) -> u64 {
    let largest = |stream: &StreamSpec| stream.size_bytes.max(stream.pattern.answer_bytes().unwrap_or(0));
    spec.streams.iter().map(largest).max().unwrap_or(0)
}

fn require(holds: bool, capability: &str, reason: impl FnOnce() -> String) -> Result<(), Refusal> {
    if holds {
        Ok(())
    } else {
        Err(Refusal {
            capability: capability.into(),
            reason: reason(),
        })
    }
}

fn log_to_standard_error() {
    // A second call finds the first one's in place, which is as good.
    let _ = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .try_init();
}

fn main() -> ExitCode {
    middlemark_runtime::run(&Zenoh)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use middlemark_contract::{OptionValue, Qos};
    use serde_json::json;

    use super::*;

    fn refused(transport: &str, qos: Qos) -> Option<Refusal> {
        let endpoint = json!({"application": "a", "address": "127.0.0.1"});
        let spec = json!({
            "contract_version": 2, "application": "a", "delivery": "library_thread", "address": "127.0.0.1",
            "interface": "lo", "profile": "default", "options": {}, "services": [], "endpoints": [],
            "rendezvous": {"name": "m", "token": 1, "domain": 0, "first_port": 1000, "ports": 9, "folder": "/tmp"},
            "streams": [{
                "name": "imu", "size_bytes": 64, "pattern": {"kind": "periodic", "rate_hz": 1.0, "arrival": {"kind": "fixed"}},
                "qos": qos, "publishers": [endpoint], "subscribers": [endpoint],
            }],
            "recording": {"samples": 0, "messages": 0, "late_after_ns": 0, "folder": "/tmp"},
            "clock_offset_ns": 0, "verify": false,
            "placement": {"cpus": [], "scheduling": {"kind": "other"}, "spin_ns": 0},
        });
        let set = BTreeMap::from([("transport".into(), OptionValue::Text(transport.into()))]);
        let options = Options::resolve(&description::describe(), "default", &set).unwrap();
        Zenoh.accept(&serde_json::from_value(spec).unwrap(), &options).err()
    }

    #[test]
    fn reliable_is_refused_over_the_transport_that_sends_nothing_again() {
        let refusal = refused("udp", Qos::RELIABLE).unwrap();
        assert_eq!(refusal.capability, "reliability");
        assert!(refusal.reason.contains("'imu'"), "{}", refusal.reason);
        assert_eq!(refused("tcp", Qos::RELIABLE), None);
        assert_eq!(refused("udp", Qos::BEST_EFFORT), None);
    }
}
