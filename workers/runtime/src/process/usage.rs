//! What a process spends and what interfaces transmit, read from the kernel before and after the window.
//!
//! Two readings make a figure; nothing is sampled in between, so that the window is not disturbed.

use std::collections::BTreeMap;
use std::fs;

use middlemark_contract::{InterfaceTraffic, Resources};
use procfs::process::Process;
use procfs::{CurrentSI, KernelStats, ProcResult};

use crate::clock;

/// One reading of what a process and the child that works for it have spent so far.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    at_ns: i64,
    user_ns: u64,
    system_ns: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    minor_faults: u64,
    major_faults: u64,
    steal_ns: u64,
    /// By name; none where its process can't read them.
    interfaces: Option<BTreeMap<String, InterfaceTraffic>>,
}

/// Which processes a figure is of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    /// The child process that does a service's work, if there is one.
    pub(crate) child: Option<u32>,
}

impl Subject {
    /// Opens the window: forgets the memory peak so far, reads everything once.
    pub(crate) fn open(self) -> ProcResult<Reading> {
        for process in self.processes() {
            // Resets the peak of resident memory (proc(5), clear_refs); where it is not allowed the peak since the start stands.
            let _ = fs::write(format!("/proc/{process}/clear_refs"), "5");
        }
        self.read()
    }

    /// Closes the window: what was spent since `opening`, and what interfaces transmitted, where their counters can be read.
    pub(crate) fn close(self, opening: &Reading) -> ProcResult<(Resources, Option<Vec<InterfaceTraffic>>)> {
        let now = self.read()?;
        let (mut peak_resident_bytes, mut resident_bytes) = (0, 0);
        for process in self.processes() {
            let status = Process::new(process)?.status()?;
            peak_resident_bytes += status.vmhwm.unwrap_or(0) * 1024;
            resident_bytes += status.vmrss.unwrap_or(0) * 1024;
        }
        let resources = Resources {
            wall_ns: (now.at_ns - opening.at_ns) as u64,
            cpu_user_ns: now.user_ns.saturating_sub(opening.user_ns),
            cpu_system_ns: now.system_ns.saturating_sub(opening.system_ns),
            peak_resident_bytes,
            resident_bytes,
            voluntary_switches: now.voluntary_switches.saturating_sub(opening.voluntary_switches),
            involuntary_switches: now.involuntary_switches.saturating_sub(opening.involuntary_switches),
            minor_faults: now.minor_faults.saturating_sub(opening.minor_faults),
            major_faults: now.major_faults.saturating_sub(opening.major_faults),
            machine_steal_ns: now.steal_ns.saturating_sub(opening.steal_ns),
        };
        let counted = opening.interfaces.as_ref().zip(now.interfaces.as_ref());
        Ok((resources, counted.map(|(before, now)| traffic(before, now))))
    }

    fn processes(self) -> impl Iterator<Item = i32> {
        std::iter::once(std::process::id())
            .chain(self.child)
            .map(|process| process as i32)
    }

    fn read(self) -> ProcResult<Reading> {
        let mut reading = Reading {
            at_ns: clock::now_ns(),
            steal_ns: steal_ns()?,
            interfaces: interfaces().ok(),
            ..own_usage()
        };
        if let Some(child) = self.child {
            reading.add(child as i32)?;
        }
        Ok(reading)
    }
}

impl Reading {
    /// Adds a process that is not this one; its CPU times come in the kernel's ticks.
    fn add(&mut self, process: i32) -> ProcResult<()> {
        let process = Process::new(process)?;
        let stat = process.stat()?;
        let tick_ns = 1_000_000_000 / procfs::ticks_per_second();
        self.user_ns += stat.utime * tick_ns;
        self.system_ns += stat.stime * tick_ns;
        self.minor_faults += stat.minflt;
        self.major_faults += stat.majflt;
        for task in process.tasks()?.flatten() {
            let status = task.status()?;
            self.voluntary_switches += status.voluntary_ctxt_switches.unwrap_or(0);
            self.involuntary_switches += status.nonvoluntary_ctxt_switches.unwrap_or(0);
        }
        Ok(())
    }
}

/// Resident memory of this process.
pub(crate) fn resident_bytes() -> ProcResult<u64> {
    Ok(Process::myself()?.status()?.vmrss.unwrap_or(0) * 1024)
}

/// This process with all its threads, those that have ended too.
fn own_usage() -> Reading {
    // SAFETY: rusage is plain numbers, for which zero is valid; the call fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let time_ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    Reading {
        at_ns: 0,
        user_ns: time_ns(usage.ru_utime),
        system_ns: time_ns(usage.ru_stime),
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        steal_ns: 0,
        interfaces: None,
    }
}

fn steal_ns() -> ProcResult<u64> {
    let ticks = KernelStats::current()?.total.steal.unwrap_or(0);
    Ok(ticks * (1_000_000_000 / procfs::ticks_per_second()))
}

fn interfaces() -> ProcResult<BTreeMap<String, InterfaceTraffic>> {
    let status = procfs::net::dev_status()?;
    Ok(status
        .into_iter()
        .map(|(name, device)| {
            let traffic = InterfaceTraffic {
                interface: name.clone(),
                received_bytes: device.recv_bytes,
                received_packets: device.recv_packets,
                sent_bytes: device.sent_bytes,
                sent_packets: device.sent_packets,
            };
            (name, traffic)
        })
        .collect())
}

fn traffic(
    before: &BTreeMap<String, InterfaceTraffic>,
    now: &BTreeMap<String, InterfaceTraffic>,
) -> Vec<InterfaceTraffic> {
    now.iter()
        .filter_map(|(name, now)| {
            let before = before.get(name)?;
            Some(InterfaceTraffic {
                interface: name.clone(),
                received_bytes: now.received_bytes.saturating_sub(before.received_bytes),
                received_packets: now.received_packets.saturating_sub(before.received_packets),
                sent_bytes: now.sent_bytes.saturating_sub(before.sent_bytes),
                sent_packets: now.sent_packets.saturating_sub(before.sent_packets),
            })
        })
        .filter(|traffic| traffic.sent_packets + traffic.received_packets > 0)
        .collect()
}
