//! Puts this process where the spec says: CPUs and scheduling class, before any thread exists, so that all inherit it;
//! and reads back from the kernel where a process is.

use std::collections::BTreeMap;
use std::io;

use middlemark_contract::{Placement, Refusal, Scheduling};

/// Applies a placement to the calling thread and all that it will start.
///
/// # Errors
/// A refusal that names what the kernel did not allow.
pub(crate) fn apply(placement: &Placement) -> Result<(), Refusal> {
    if !placement.cpus.is_empty() {
        pin(&placement.cpus).map_err(|error| refusal(format!("{}: {error}", words(&placement.cpus))))?;
    }
    if let Scheduling::Fifo { priority } = placement.scheduling {
        let parameter = libc::sched_param {
            sched_priority: i32::from(priority),
        };
        // SAFETY: `parameter` is valid for the call.
        check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) }).map_err(|error| {
            refusal(format!(
                "SCHED_FIFO at priority {priority}: {error}; CAP_SYS_NICE is needed"
            ))
        })?;
    }
    // The default slack lets the kernel delay each wake-up of a schedule by 50 µs.
    // SAFETY: PR_SET_TIMERSLACK takes one number.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    Ok(())
}

/// Where this process runs, or that of a child, in words; what the kernel does not tell is left out.
pub(crate) fn granted(child: Option<u32>) -> BTreeMap<String, String> {
    let process = child.map_or(0, |id| id as libc::pid_t);
    [
        ("process CPUs", allowed_cpus(process)),
        ("process scheduling", scheduling(process)),
    ]
    .into_iter()
    .filter_map(|(name, words)| Some((name.to_owned(), words?)))
    .collect()
}

fn allowed_cpus(process: libc::pid_t) -> Option<String> {
    // SAFETY: cpu_set_t is plain bits, for which zero is valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is valid for its size.
    check(unsafe { libc::sched_getaffinity(process, size_of::<libc::cpu_set_t>(), &raw mut set) }).ok()?;
    // SAFETY: CPU_ISSET reads within the set.
    let cpus = (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) });
    Some(words(&cpus.collect::<Vec<_>>()))
}

/// `CPU 0+2`
fn words(cpus: &[impl ToString]) -> String {
    let numbers: Vec<_> = cpus.iter().map(ToString::to_string).collect();
    format!("CPU {}", numbers.join("+"))
}

fn scheduling(process: libc::pid_t) -> Option<String> {
    // SAFETY: both calls take a process's number and touch no memory but `parameter`, which is valid.
    let (class, priority) = unsafe {
        let mut parameter: libc::sched_param = std::mem::zeroed();
        check(libc::sched_getparam(process, &raw mut parameter)).ok()?;
        (libc::sched_getscheduler(process), parameter.sched_priority)
    };
    Some(match class & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_OTHER => "SCHED_OTHER".into(),
        libc::SCHED_FIFO => format!("SCHED_FIFO at priority {priority}"),
        other => format!("scheduling class {other}"),
    })
}

/// Keeps the calling thread, and all that it will start, on these CPUs.
///
/// # Errors
/// One of them is none on which this process may run.
pub fn pin(cpus: &[u32]) -> io::Result<()> {
    if let Some(cpu) = cpus.iter().find(|cpu| **cpu >= libc::CPU_SETSIZE as u32) {
        let reason = format!("Linux has no CPU {cpu}: they end at {}", libc::CPU_SETSIZE - 1);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    // SAFETY: cpu_set_t is plain bits, for which zero is valid; no number is beyond its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for cpu in cpus {
            libc::CPU_SET(*cpu as usize, &mut set);
        }
        set
    };
    // SAFETY: `set` is valid for its size.
    check(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) })
}

fn check(status: i32) -> io::Result<()> {
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn refusal(reason: String) -> Refusal {
    Refusal {
        capability: "placement".into(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_stated_where_the_kernel_has_it() {
        let last = allowed_cpus(0)
            .unwrap()
            .rsplit(['+', ' '])
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let spec = Placement {
            cpus: vec![last],
            scheduling: Scheduling::Other,
            spin_ns: 0,
        };
        let stated = std::thread::spawn(move || {
            apply(&spec).unwrap();
            granted(None)
        });
        let stated = stated.join().unwrap();
        assert_eq!(stated["process CPUs"], format!("CPU {last}"));
        assert_eq!(stated["process scheduling"], "SCHED_OTHER");
    }

    #[test]
    fn a_cpu_that_no_machine_has_is_refused() {
        let spec = Placement {
            cpus: vec![0, 5000],
            scheduling: Scheduling::Other,
            spin_ns: 0,
        };
        assert_eq!(
            apply(&spec).unwrap_err().reason,
            "CPU 0+5000: Linux has no CPU 5000: they end at 1023"
        );
    }

    #[test]
    fn of_a_process_that_is_gone_nothing_is_stated() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert!(granted(Some(child.id())).is_empty());
    }
}
