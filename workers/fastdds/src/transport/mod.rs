//! The ways a message can take, and what each asks of participant, writers and type; it creates nothing.

pub(crate) mod semaphores;

use middlemark_contract::{ApplicationSpec, MessagePath, Refusal};
use middlemark_runtime::Options;

/// The values of the option `transport`, as shipped first.
pub(crate) const TRANSPORTS: [&str; 4] = ["default", "udp", "shm", "data_sharing"];

/// A value of the option `transport`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// As shipped: shared memory on one host, UDP between hosts, data sharing for types that allow it.
    Default,
    Udp,
    SharedMemory,
    DataSharing,
}

impl Transport {
    pub(crate) fn of(options: &Options) -> Transport {
        match options.text("transport") {
            "udp" => Transport::Udp,
            "shm" => Transport::SharedMemory,
            "data_sharing" => Transport::DataSharing,
            _ => Transport::Default,
        }
    }

    pub(crate) fn has_udp(self) -> bool {
        self != Transport::SharedMemory
    }

    pub(crate) fn has_shared_memory(self) -> bool {
        self != Transport::Udp
    }

    /// 0 off, 1 where possible, 2 required.
    pub(crate) fn data_sharing(self) -> i32 {
        match self {
            Transport::Udp | Transport::SharedMemory => 0,
            Transport::Default => 1,
            Transport::DataSharing => 2,
        }
    }

    /// Whether messages have the type of fixed size, without which there are neither loans nor data sharing.
    pub(crate) fn needs_plain_type(self, zero_copy: bool) -> bool {
        zero_copy || self == Transport::DataSharing
    }

    /// The paths that messages may take; with data sharing UDP is there for discovery alone.
    pub(crate) fn paths(self) -> Vec<MessagePath> {
        match self {
            Transport::Udp => vec![MessagePath::Network],
            Transport::SharedMemory | Transport::DataSharing => vec![MessagePath::SharedMemory],
            Transport::Default => vec![MessagePath::SharedMemory, MessagePath::Network],
        }
    }

    pub(crate) fn words(self, plain: bool) -> &'static str {
        match self {
            Transport::Udp => "udp",
            Transport::SharedMemory => "shared memory",
            Transport::DataSharing => "data sharing (discovery over shared memory and udp)",
            Transport::Default if plain => "built-in: data sharing on one host, udp between hosts",
            Transport::Default => "built-in: shared memory on one host, udp between hosts",
        }
    }
}

/// Refuses what a transport can't carry.
pub(crate) fn accept(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    let transport = Transport::of(options);
    if transport.has_udp() && !spec.address.is_ipv4() {
        return Err(Refusal {
            capability: "spec".into(),
            reason: format!(
                "UDP is configured for IPv4 alone, the host's address is {}",
                spec.address
            ),
        });
    }
    let local_only = matches!(transport, Transport::SharedMemory | Transport::DataSharing);
    let mut endpoints = spec
        .streams
        .iter()
        .flat_map(|stream| stream.publishers.iter().chain(&stream.subscribers));
    if local_only && endpoints.any(|endpoint| endpoint.address != spec.address) {
        return Err(Refusal {
            capability: "between_hosts".into(),
            reason: format!(
                "transport '{}' reaches one host only; between hosts: default, udp",
                options.text("transport")
            ),
        });
    }
    let shared = transport == Transport::DataSharing;
    // As tried with 2.9.1: of 1500 messages of 16 kB, while the subscriber was stopped for a second, 26 to 43 never arrived.
    if let Some(stream) = spec.streams.iter().find(|stream| shared && stream.qos.blocks()) {
        return Err(Refusal {
            capability: "congestion".into(),
            reason: format!(
                "data sharing loses accepted messages of '{}' where its subscriber is slow, which block rules out; allowed: \
                 drop, keep_last, or transport default, udp or shm",
                stream.name
            ),
        });
    }
    if shared && spec.streams.iter().any(|stream| stream.recorded.is_some()) {
        return Err(Refusal {
            capability: "size_bytes".into(),
            reason: "messages of recorded sizes: data sharing takes a type of one size; allowed: default, udp, shm"
                .into(),
        });
    }
    Ok(())
}
