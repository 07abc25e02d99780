//! The ways a message can take, and what each asks of participant, writers and type; it creates nothing.
//!
//! What is refused is `acceptance`'s.

pub(crate) mod acceptance;
pub(crate) mod semaphores;

use std::collections::BTreeSet;

use middlemark_contract::{ApplicationSpec, MessagePath, PatternSpec, Qos, Reliability, StreamSpec};
use middlemark_runtime::Options;

use crate::shim;

/// The values of the option `transport`, as shipped first.
pub(crate) const TRANSPORTS: [&str; 5] = ["default", "udp", "shm", "data_sharing", "large_data"];

/// The levels of the option `intraprocess`, in the order of the library's enumeration.
pub(crate) const INTRAPROCESS: [&str; 3] = ["off", "user_data_only", "full"];

/// A value of the option `transport`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// As shipped: shared memory on one host, for best effort beside UDP; UDP between hosts; data sharing for types that allow it.
    Default,
    Udp,
    SharedMemory,
    DataSharing,
    /// `LARGE_DATA`: shared memory on one host, TCP between hosts; UDP is there to announce participants, by multicast alone.
    LargeData,
}

/// The values of `transport` that the library has in this version.
pub(crate) fn available() -> Vec<&'static str> {
    let is_there = |name: &&str| *name != "large_data" || shim::has_large_data();
    TRANSPORTS.into_iter().filter(is_there).collect()
}

impl Transport {
    pub(crate) fn of(options: &Options) -> Transport {
        match options.text("transport") {
            "udp" => Transport::Udp,
            "shm" => Transport::SharedMemory,
            "data_sharing" => Transport::DataSharing,
            "large_data" => Transport::LargeData,
            _ => Transport::Default,
        }
    }

    pub(crate) fn has_udp(self) -> bool {
        self != Transport::SharedMemory
    }

    pub(crate) fn is_within_host(self) -> bool {
        matches!(self, Transport::SharedMemory | Transport::DataSharing)
    }

    pub(crate) fn has_shared_memory(self) -> bool {
        self != Transport::Udp
    }

    /// 0 off, 1 where possible, 2 required.
    pub(crate) fn data_sharing(self) -> i32 {
        match self {
            Transport::Udp | Transport::SharedMemory => 0,
            Transport::Default | Transport::LargeData => 1,
            Transport::DataSharing => 2,
        }
    }

    /// Whether messages have the type of fixed size, without which there are neither loans nor data sharing.
    pub(crate) fn needs_plain_type(self, zero_copy: bool) -> bool {
        zero_copy || self == Transport::DataSharing
    }

    /// The paths of an application's messages. With data sharing UDP is there for discovery alone, and messages lie in shared
    /// memory even where a call hands them over. As shipped a best-effort writer of version 2 sends each message to a reader of
    /// its host twice, over shared memory and over UDP, as was seen with 2.9.1 by the bytes on the interface; 3.1.2 does not.
    pub(crate) fn paths(self, spec: &ApplicationSpec, options: &Options) -> Vec<MessagePath> {
        let within_host = match self {
            Transport::Udp => MessagePath::Network,
            Transport::SharedMemory | Transport::DataSharing | Transport::LargeData | Transport::Default => {
                MessagePath::SharedMemory
            }
        };
        let is_direct = options.text("intraprocess") != INTRAPROCESS[0];
        let within_application = if is_direct { MessagePath::Process } else { within_host };
        let mut paths = BTreeSet::from_iter(spec.reach().paths(within_application, within_host));
        for stream in &spec.streams {
            let (reach, is_best_effort) = (spec.reach_of(stream), stream.qos.reliability == Reliability::BestEffort);
            let is_plain = self.needs_plain_type(lends(spec, stream, options));
            if is_plain && self.data_sharing() > 0 && reach.within_application {
                paths.insert(MessagePath::SharedMemory);
            }
            if self.sends_twice() && is_best_effort && !is_plain && reach.within_host {
                paths.insert(MessagePath::Network);
            }
        }
        Vec::from_iter(paths)
    }

    /// Whether best effort takes both ways within a host.
    fn sends_twice(self) -> bool {
        self == Transport::Default && !shim::is_version_3()
    }

    pub(crate) fn words(self, plain: bool) -> &'static str {
        match self {
            Transport::Udp => "udp",
            Transport::SharedMemory => "shared memory",
            Transport::DataSharing => "data sharing (discovery over shared memory and udp)",
            Transport::LargeData if plain => {
                "LARGE_DATA: data sharing on one host, tcp between hosts, udp for discovery"
            }
            Transport::LargeData => "LARGE_DATA: shared memory on one host, tcp between hosts, udp for discovery",
            Transport::Default if plain => "built-in: data sharing on one host, udp between hosts",
            Transport::Default if self.sends_twice() => {
                "built-in: shared memory on one host, best effort over udp too; udp between hosts"
            }
            Transport::Default => "built-in: shared memory on one host, udp between hosts",
        }
    }
}

/// Loans take a type of one size, which recorded messages don't have, and data sharing, which with `block` would lose
/// messages (`acceptance`) and which the library turns off under security: those are copied.
pub(crate) fn can_lend(is_recorded: bool, qos: Qos) -> bool {
    !is_recorded && !qos.blocks()
}

/// Whether messages of a stream are lent; requests and responses never are.
fn lends(spec: &ApplicationSpec, stream: &StreamSpec, options: &Options) -> bool {
    let are_requests = matches!(stream.pattern, PatternSpec::RequestResponse { .. });
    let zero_copy = options.boolean("zero_copy") && spec.security.is_none();
    zero_copy && !are_requests && can_lend(stream.recorded.is_some(), stream.qos)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use middlemark_contract::{Congestion, OptionValue};
    use serde_json::json;

    use super::*;
    use crate::description;

    /// The paths of `a`, whose subscriber is this application of this host.
    fn paths(subscriber: &str, host: u8, reliability: Reliability, set: &[(&str, OptionValue)]) -> Vec<MessagePath> {
        let end =
            |application: &str, host: u8| json!({"application": application, "address": format!("10.0.0.{host}")});
        let qos = Qos {
            reliability,
            congestion: Congestion::Drop,
            ..Qos::RELIABLE
        };
        let spec = json!({
            "contract_version": 3, "delivery": "own_thread", "application": "a", "address": "10.0.0.1", "interface": "lo",
            "rendezvous": {"name": "t", "token": 1, "domain": 0, "first_port": 1, "ports": 1, "folder": "/"},
            "services": [], "profile": "default", "options": {}, "clock_offset_ns": 0, "endpoints": [], "verify": false,
            "streams": [{
                "name": "s", "size_bytes": 64, "pattern": {"kind": "unthrottled", "approach_hz": 1.0, "messages": null},
                "qos": qos, "publishers": [end("a", 1)], "subscribers": [end(subscriber, host)],
            }],
            "recording": {"samples": 1, "messages": 1, "late_after_ns": 1, "folder": "/"},
            "placement": {"cpus": [], "scheduling": {"kind": "other"}, "spin_ns": 0},
        });
        let set: BTreeMap<_, _> = set
            .iter()
            .map(|(name, value)| ((*name).into(), value.clone()))
            .collect();
        let options = Options::resolve(&description::describe(), "default", &set).unwrap();
        Transport::of(&options).paths(&serde_json::from_value(spec).unwrap(), &options)
    }

    #[test]
    fn as_shipped_best_effort_of_version_2_takes_two_paths_on_one_host_and_every_other_stream_one() {
        use MessagePath::{Network, Process, SharedMemory};
        use Reliability::{BestEffort, Reliable};
        let lent = [("zero_copy", OptionValue::Boolean(true))];
        let udp = [("transport", OptionValue::Text("udp".into()))];
        let large_data = [("transport", OptionValue::Text("large_data".into()))];
        let of_version_2: &[_] = if shim::is_version_3() { &[] } else { &[Network] };
        assert_eq!(paths("b", 1, BestEffort, &[]), [of_version_2, &[SharedMemory]].concat());
        assert_eq!(paths("b", 1, Reliable, &[]), [SharedMemory]);
        assert_eq!(paths("b", 2, BestEffort, &[]), [Network]);
        assert_eq!(paths("b", 1, BestEffort, &lent), [SharedMemory]);
        assert_eq!(paths("b", 1, BestEffort, &udp), [Network]);
        assert_eq!(paths("b", 1, BestEffort, &large_data), [SharedMemory]);
        assert_eq!(paths("b", 2, BestEffort, &large_data), [Network]);
        assert_eq!(paths("a", 1, Reliable, &[]), [Process]);
        assert_eq!(paths("a", 1, Reliable, &lent), [SharedMemory, Process]);
    }
}
