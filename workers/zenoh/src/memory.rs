//! How much memory this process may lock: Zenoh locks all of its shared memory, and has none where it may not.
//!
//! It asks the kernel and decides nothing; `main` refuses by it, `settings` states it.

use std::fs;

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
