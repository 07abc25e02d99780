//! What the machine as a whole says, and what the observer itself has cost so far.

use std::collections::BTreeMap;

use middlemark_runtime::clock;
use procfs::{Current, ProcResult};

use crate::sample::MachineSample;

const NS_A_US: u64 = 1_000;

/// Reads it now; what can't be had is entered with its reason.
pub(crate) fn read(unavailable: &mut BTreeMap<&'static str, String>) -> MachineSample {
    let mut total_ns = |name, total_us: ProcResult<u64>| match total_us {
        Ok(us) => Some(us * NS_A_US),
        Err(error) => {
            unavailable.entry(name).or_insert_with(|| error.to_string());
            None
        }
    };
    MachineSample {
        at_ns: clock::now_ns(),
        cpu_pressure_ns: total_ns(
            "cpu_pressure_ns",
            procfs::CpuPressure::current().map(|it| it.some.total),
        ),
        memory_pressure_ns: total_ns(
            "memory_pressure_ns",
            procfs::MemoryPressure::current().map(|it| it.some.total),
        ),
        io_pressure_ns: total_ns("io_pressure_ns", procfs::IoPressure::current().map(|it| it.some.total)),
        observer_cpu_ns: own_cpu_ns(),
    }
}

fn own_cpu_ns() -> i64 {
    cpu_clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or_default()
}

/// What a CPU-time clock says; none where its process is gone.
pub(crate) fn cpu_clock_ns(id: libc::clockid_t) -> Option<i64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; a clock of a process that is gone is refused with a status.
    let status = unsafe { libc::clock_gettime(id, &raw mut time) };
    (status == 0).then_some(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_own_cost_grows_with_its_work() {
        let mut unavailable = BTreeMap::new();
        let first = read(&mut unavailable);
        let last = (0..50).map(|_| read(&mut unavailable)).last().unwrap();
        assert!(last.observer_cpu_ns > first.observer_cpu_ns);
        assert!(last.at_ns > first.at_ns);
    }

    #[test]
    fn pressure_is_had_or_has_a_reason() {
        let mut unavailable = BTreeMap::new();
        let had = read(&mut unavailable).cpu_pressure_ns.is_some();
        assert_ne!(had, unavailable.contains_key("cpu_pressure_ns"));
    }
}
