//! Which channels' messages are loaned from shared memory, how large their pools are, and whether they can be had.
//!
//! Zenoh locks all of its shared memory, and has none where it may not. Arithmetic over channels and options, and one question
//! to the kernel; `session` makes the pools, `publisher` loans from them.

use std::fs;

use middlemark_contract::Refusal;
use middlemark_runtime::{Channel, Options};

/// What a pool needs beside its messages: the allocator's own structures and each message's alignment.
const POOL_EXTRA_BYTES: usize = 65_536;

/// What Zenoh locks beside the pools: a segment of descriptors, 1.3 MB, in each process.
const DESCRIPTORS_BYTES: usize = 2 << 20;

/// Whether messages of a size are lent.
pub(crate) fn are_lent(size_bytes: usize, options: &Options) -> bool {
    options.boolean("zero_copy") && size_bytes >= options.integer("shared_memory_threshold_bytes") as usize
}

/// The size of each publisher's pool on a channel; none where its messages are moved to Zenoh instead.
pub(crate) fn pool_bytes(channel: &Channel, options: &Options) -> Option<usize> {
    let messages = options.integer("loan_messages") as usize;
    are_lent(channel.size_bytes, options).then(|| messages * channel.size_bytes.next_multiple_of(64) + POOL_EXTRA_BYTES)
}

/// Whether a process that holds the pools of all publishers, as a subscriber of them does, may lock that much memory.
///
/// # Errors
/// The refusal, with how much there is to lock.
pub(crate) fn accept(channels: &[Channel], options: &Options, lockable_bytes: Option<u64>) -> Result<(), Refusal> {
    let pools: usize = channels
        .iter()
        .map(|channel| channel.publishers.len() * pool_bytes(channel, options).unwrap_or(0))
        .sum();
    let needed_bytes = (pools + DESCRIPTORS_BYTES) as u64;
    let needed = options.boolean("shared_memory") && (pools > 0 || options.text("shared_memory_mode") == "init");
    match lockable_bytes {
        Some(lockable_bytes) if needed && needed_bytes > lockable_bytes => Err(Refusal {
            capability: "option".into(),
            reason: format!(
                "zero_copy or shared_memory_mode: Zenoh locks its shared memory, {needed_bytes} bytes here, and this \
                 process may lock {lockable_bytes}; raise the limit (ulimit -l, LimitMEMLOCK=) or do without"
            ),
        }),
        _ => Ok(()),
    }
}

/// Bit of `CAP_IPC_LOCK`, which lifts the limit (`capabilities(7)`).
const IPC_LOCK: u64 = 1 << 14;

/// The most bytes that may be locked; none: there is no limit.
pub(crate) fn lockable_bytes() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the kernel writes into a structure of this function's own.
    let asked = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) };
    (asked == 0 && limit.rlim_cur != libc::RLIM_INFINITY && !may_lock_all()).then_some(limit.rlim_cur)
}

fn may_lock_all() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & IPC_LOCK != 0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::{Ipv4Addr, SocketAddr};

    use middlemark_contract::{OptionValue, Qos};
    use middlemark_runtime::ChannelEndpoint;

    use super::*;

    fn channel(size_bytes: usize) -> Channel {
        let endpoint = ChannelEndpoint {
            application: "a".into(),
            socket: SocketAddr::from((Ipv4Addr::LOCALHOST, 1)),
        };
        Channel {
            topic: "t".into(),
            number: 0,
            size_bytes,
            recorded: None,
            rate_hz: 1.0,
            qos: Qos::RELIABLE,
            publishers: vec![endpoint.clone()],
            subscribers: vec![endpoint],
            index: 0,
        }
    }

    fn options(zero_copy: bool) -> Options {
        let overrides = BTreeMap::from([("zero_copy".into(), OptionValue::Boolean(zero_copy))]);
        Options::resolve(&crate::description::describe(), "default", &overrides).expect("the options are described")
    }

    #[test]
    fn small_messages_are_moved_and_large_ones_loaned() {
        assert_eq!(pool_bytes(&channel(64), &options(true)), None);
        assert!(pool_bytes(&channel(4096), &options(true)).is_some_and(|bytes| bytes >= 4 * 4096));
        assert_eq!(pool_bytes(&channel(4096), &options(false)), None);
    }

    #[test]
    fn pools_that_cannot_be_locked_are_refused() {
        let channels = [channel(4_000_000)];
        assert!(accept(&channels, &options(true), Some(8 << 20)).is_err());
        assert!(accept(&channels, &options(true), None).is_ok());
        assert!(accept(&channels, &options(false), Some(8 << 20)).is_ok());
        assert!(accept(&[channel(64)], &options(true), Some(8 << 20)).is_ok());
    }
}
