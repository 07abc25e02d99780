//! What a process spent over the window, and the proof of the path its messages took.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one process, with the children it started, spent between two instants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// The time between the two readings.
    pub wall_ns: u64,
    /// CPU time in user mode.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel.
    pub cpu_system_ns: u64,
    /// The most memory resident since the window opened (since the start where the kernel can't reset it).
    pub peak_resident_bytes: u64,
    /// Resident memory at the end.
    pub resident_bytes: u64,
    /// Times a thread gave up its CPU by itself.
    pub voluntary_switches: u64,
    /// Times a thread was preempted.
    pub involuntary_switches: u64,
    /// Page faults that needed no disk.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// Time the hypervisor took from this machine's CPUs, all together.
    pub machine_steal_ns: u64,
}

/// Which paths the messages took: what interfaces counted over the window, and what the application had when all had heard
/// each other and the window had not begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathProof {
    /// Traffic of each interface that the application can see; none where its counters can't be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interfaces: Option<Vec<InterfaceTraffic>>,
    /// The names of shared memory that it has mapped, by workers that do not tell `segments`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_memory: Option<Vec<String>>,
    /// The shared memory that it has mapped; none where the worker does not tell, or could not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<Vec<MappedSegment>>,
    /// Its sockets, those of equal ends together; none as for `segments`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sockets: Option<Vec<SocketUse>>,
    /// Which of these could not be looked at, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
}

/// One segment of shared memory that an application has mapped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MappedSegment {
    /// Its name: a path below `/dev/shm`, a memory file or a System V segment.
    pub name: String,
    /// Its device and inode, equal in every process that has mapped it.
    pub identity: String,
    /// How much of it is mapped.
    pub size_bytes: u64,
    /// How many different messages of the trial lie in it; none where it was not looked through and none was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u32>,
}

/// The sockets of an application that have the same protocol and the same ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketUse {
    /// Their protocol.
    pub protocol: SocketProtocol,
    /// Their own address without a port; of local sockets, the folder of their path, none where they have no path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// The same of their peer; none where they are connected to none, `unnamed` for a local socket without a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// How many they are.
    pub sockets: u32,
    /// Bytes sent since they were connected, as TCP counts them; none of other protocols, which count none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_bytes: Option<u64>,
    /// The same of bytes received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_bytes: Option<u64>,
}

/// What a socket speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SocketProtocol {
    /// TCP over IPv4 or IPv6.
    Tcp,
    /// UDP over IPv4 or IPv6.
    Udp,
    /// A Unix domain socket, of whichever type.
    Local,
}

/// Traffic of one interface over the window, all processes together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterfaceTraffic {
    /// The interface.
    pub interface: String,
    /// Bytes it received.
    pub received_bytes: u64,
    /// Packets it received.
    pub received_packets: u64,
    /// Bytes it sent.
    pub sent_bytes: u64,
    /// Packets it sent.
    pub sent_packets: u64,
}
