//! What is kept of one reading, and what is said at the end: plain figures, their units in their names.
//!
//! Counts and times are totals since a process began; the front takes the differences. `None` is a figure that could not
//! be had, for which the last event has a reason.

use std::collections::BTreeMap;

use serde::Serialize;

/// One line of what is said.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event<'a> {
    /// The first sample is taken.
    Ready {},
    /// A reading of one process.
    Process(&'a ProcessSample),
    /// A reading of the machine.
    Machine(&'a MachineSample),
    /// The last line.
    Done {
        /// Instants at which no sample was taken because the one before was not done.
        missed: u64,
        /// By figure: why it could not be had.
        unavailable: &'a BTreeMap<&'static str, String>,
    },
}

/// What a process, with all that it started, had used by an instant.
#[derive(Debug, Default, Clone, Serialize)]
pub(crate) struct ProcessSample {
    pub(crate) process: String,
    pub(crate) at_ns: i64,
    /// By the scheduler's own account, to the nanosecond.
    pub(crate) cpu_ns: i64,
    /// The two parts of it, in steps of the kernel's tick.
    pub(crate) cpu_user_ns: i64,
    pub(crate) cpu_system_ns: i64,
    pub(crate) resident_bytes: u64,
    /// Shared pages divided among those that share them.
    pub(crate) proportional_bytes: Option<u64>,
    /// Pages that nobody else has.
    pub(crate) unique_bytes: Option<u64>,
    pub(crate) peak_resident_bytes: u64,
    /// Anonymous pages: what allocators hold, whether they grew the heap or mapped memory, and stacks.
    pub(crate) anonymous_bytes: Option<u64>,
    /// Resident pages of shared memory.
    pub(crate) shared_resident_bytes: u64,
    /// All that is in the `/dev/shm` that the process sees.
    pub(crate) dev_shm_bytes: Option<u64>,
    pub(crate) threads: u64,
    pub(crate) descriptors: Option<u64>,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    /// Of the control group that the process is in, where that is not the observer's too.
    pub(crate) cgroup_memory_bytes: Option<u64>,
    pub(crate) cgroup_cpu_ns: Option<u64>,
    pub(crate) cgroup_throttled_ns: Option<u64>,
}

/// What the machine, and the observer itself, had come to by an instant.
#[derive(Debug, Clone, Serialize)]
#[expect(clippy::struct_field_names, reason = "units end a name")]
pub(crate) struct MachineSample {
    pub(crate) at_ns: i64,
    /// Pressure: time for which some task had to wait for it.
    pub(crate) cpu_pressure_ns: Option<u64>,
    pub(crate) memory_pressure_ns: Option<u64>,
    pub(crate) io_pressure_ns: Option<u64>,
    pub(crate) observer_cpu_ns: i64,
}
