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

/// Which path the messages took, from the kernel's own counters over the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathProof {
    /// Traffic of each interface that the application can see.
    pub interfaces: Vec<InterfaceTraffic>,
    /// Shared memory that the application has mapped at the end of the window.
    pub shared_memory: Vec<String>,
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
