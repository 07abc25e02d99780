//! Puts the calling thread on a CPU, so that both ends of a comparison always run in the same places.

use std::mem;
use std::sync::OnceLock;

/// Where the sending side runs, and where the receiving side does; the same one on a machine with one CPU.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    Sender,
    Receiver,
}

/// Pins this thread and all that it starts from now on.
pub(crate) fn pin(side: Side) {
    // Counted once: what is pinned counts only the CPUs that it is pinned to.
    static CPUS: OnceLock<usize> = OnceLock::new();
    let cpus = CPUS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
    let cpu = match side {
        Side::Receiver => 0,
        Side::Sender => 1 % cpus,
    };
    // SAFETY: cpu_set_t is plain bits, for which zero is valid; the set is valid for its size.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}
