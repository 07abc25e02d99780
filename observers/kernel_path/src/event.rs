//! One thing that the kernel did: the record of the ring buffer, and of the file that is left.
//!
//! The BPF program fills it in, where the layout and the kinds stand too. Nothing is interpreted here.
//!
//! ```text
//! kind           process, thread    subject            other             value
//!  1 called      the caller         first argument     second argument   the call's number
//!  2 returned    the caller         the call's number                    its result
//!  3 queued      who was running    the packet         its socket        (ports, mark, length: of its payload)
//!  4 transmitted who was running    the packet         its namespace     (of a segment of one queued: as queued)
//!  5 arrived     who was running    the packet         its namespace
//!  6 woken       who is woken       the waking thread  its process
//!  7 switched    who runs now       the thread before  its process       1: that was preempted
//!  8 sent        the caller         the socket         its namespace     bytes (ports: own, peer's; mark: protocol)
//!  9 taken       the caller         the socket         its namespace     bytes (ports: own, peer's; mark: protocol)
//! ```

use npyz::{AutoSerialize, Serialize};

/// A record, as it lies in the ring buffer and in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AutoSerialize, Serialize)]
#[repr(C)]
pub(crate) struct Event {
    /// On `CLOCK_MONOTONIC`.
    pub(crate) at_ns: u64,
    pub(crate) subject: u64,
    pub(crate) other: u64,
    pub(crate) value: i64,
    /// The thread group that ran, by its id on the machine; of a wake-up or switch, the one it happened to.
    pub(crate) process: u32,
    pub(crate) thread: u32,
    /// Source in the upper half, destination in the lower; none where they aren't in the packet.
    pub(crate) ports: u32,
    /// Which packet of its flow it is, wherever it is seen: TCP's sequence number, or a digest of its first bytes.
    pub(crate) mark: u32,
    pub(crate) length: u32,
    pub(crate) kind: u16,
    pub(crate) cpu: u16,
}

/// The kind of a system call's start: `value` is its number.
pub(crate) const CALLED: u16 = 1;

impl Event {
    /// Reads a record of the ring buffer; none where it is another's.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != size_of::<Self>() {
            return None;
        }
        // SAFETY: the length is right, no alignment is asked for, and any bytes are valid integers.
        Some(unsafe { bytes.as_ptr().cast::<Self>().read_unaligned() })
    }
}
