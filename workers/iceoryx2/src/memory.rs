//! Whether a trial's data segments fit into the host's shared memory: what doesn't would end a process by SIGBUS.
//!
//! It asks the kernel for the size of `/dev/shm` and refuses; iceoryx2 itself reserves without looking.

use std::ffi::c_char;

use middlemark_contract::{ApplicationSpec, PatternSpec, PortHolders, Refusal};
use middlemark_runtime::Channel;

use crate::exchange;
use crate::service::Demands;

/// As shipped: messages that a subscriber may hold at once (`subscriber_max_borrowed_samples`).
const BORROWED_MESSAGES: usize = 2;

/// As shipped: messages that a publisher may have loaned at once (`publisher_max_loaned_samples`).
const LOANED_MESSAGES: usize = 2;

/// Whether all data segments of a trial fit, at their worst.
///
/// # Errors
/// The refusal, with what is needed and what there is.
pub(crate) fn accept(spec: &ApplicationSpec, shared_memory_bytes: Option<u64>) -> Result<(), Refusal> {
    let channels = Channel::of(spec, PortHolders::Nothing)?;
    let bytes = |channel: &Channel| needed_bytes(channel, &spec.streams[usize::from(channel.number / 2)].pattern);
    judge(channels.iter().map(bytes).sum(), shared_memory_bytes)
}

fn judge(needed_bytes: u64, shared_memory_bytes: Option<u64>) -> Result<(), Refusal> {
    match shared_memory_bytes {
        Some(bytes) if needed_bytes > bytes => Err(Refusal {
            capability: "size_bytes".into(),
            reason: format!(
                "the publishers' data segments may take {needed_bytes} bytes, /dev/shm has {bytes}; a smaller depth, queue \
                 or `outstanding`, or a larger /dev/shm would do"
            ),
        }),
        _ => Ok(()),
    }
}

/// The memory of a channel when every message of it is in use.
fn needed_bytes(channel: &Channel, pattern: &PatternSpec) -> u64 {
    match *pattern {
        PatternSpec::RequestResponse { outstanding, .. } => {
            exchange::memory_bytes(channel, channel.number % 2 == 1, outstanding)
        }
        _ => channel.publishers.len() as u64 * segment_bytes(channel),
    }
}

/// One publisher's data segment when every message of it is in use.
fn segment_bytes(channel: &Channel) -> u64 {
    let demands = Demands::of(channel);
    let messages = channel.subscribers.len() * (demands.buffer_messages + BORROWED_MESSAGES)
        + demands.history_messages
        + LOANED_MESSAGES;
    (messages * channel.size_bytes) as u64
}

/// The size of the host's shared memory; none where it can't be asked for.
pub(crate) fn shared_memory_bytes() -> Option<u64> {
    let path: *const c_char = c"/dev/shm".as_ptr();
    // SAFETY: a structure of plain numbers may be all zero.
    let mut sizes: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero byte and the kernel writes into a structure of this function's own.
    let asked = unsafe { libc::statvfs(path, &raw mut sizes) };
    (asked == 0).then_some(sizes.f_blocks * sizes.f_frsize)
}

#[cfg(test)]
mod tests {
    use middlemark_contract::{Arrival, ComputeSpec, PaceSpec};

    use super::*;
    use crate::service::tests::channel;

    const PERIODIC: PatternSpec = PatternSpec::Periodic {
        rate_hz: 1.0,
        arrival: Arrival::Fixed,
    };

    #[test]
    fn segments_that_do_not_fit_are_refused() {
        let mut large = channel();
        large.size_bytes = 4_000_000;
        // Depth 3, one subscriber, volatile: 3 + 2 + 2 messages.
        let bytes = needed_bytes(&large, &PERIODIC);
        assert!(judge(bytes, Some(28_000_000)).is_ok());
        let refusal = judge(bytes, Some(27_999_999)).expect_err("there is a byte too few");
        assert_eq!(refusal.capability, "size_bytes");
    }

    #[test]
    fn an_exchange_needs_room_for_every_request_that_may_be_active_and_its_response() {
        let pattern = PatternSpec::RequestResponse {
            pace: PaceSpec::Closed { approach_hz: 1.0 },
            response_bytes: 64,
            outstanding: 1,
            timeout_ns: 1,
            server_time: ComputeSpec::Constant { time_ns: 0 },
            seed: 1,
        };
        let responses = Channel { number: 1, ..channel() };
        // Four active requests, twice, and a loan; three responses to each of eight, and a byte for each of these on nine channels.
        assert_eq!(needed_bytes(&channel(), &pattern), 9 * 64);
        assert_eq!(needed_bytes(&responses, &pattern), 24 * 64 + 9 * 24);
    }

    #[test]
    fn the_host_has_shared_memory() {
        assert!(shared_memory_bytes().is_some_and(|bytes| bytes > 0));
    }
}
