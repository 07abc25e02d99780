//! Puts this process where the spec says: CPUs and scheduling class, before any thread exists, so that all inherit it.

use std::io;

use middlemark_contract::{Placement, Refusal, Scheduling};

/// Applies a placement to the calling thread and all that it will start.
///
/// # Errors
/// A refusal that names what the kernel did not allow.
pub(crate) fn apply(placement: &Placement) -> Result<(), Refusal> {
    if !placement.cpus.is_empty() {
        pin(&placement.cpus).map_err(|error| refusal(format!("CPUs {:?}: {error}", placement.cpus)))?;
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

fn pin(cpus: &[u32]) -> io::Result<()> {
    // SAFETY: cpu_set_t is plain bits, for which zero is valid; CPU_SET ignores numbers beyond its size.
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
