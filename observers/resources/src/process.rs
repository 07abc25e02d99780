//! What one process of a trial, with all that it started, has used so far.
//!
//! A middleware's service may be a child of its worker, so the whole tree is summed. Threads come and go: the switches of
//! those that have ended are remembered as they were last seen.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;

use middlemark_runtime::clock;
use procfs::process::{Process, Stat, Status};
use procfs::{ProcError, ProcResult};

use crate::cgroup::Groups;
use crate::machine::cpu_clock_ns;
use crate::sample::ProcessSample;

/// Why figures can't be had, by figure.
pub(crate) type Unavailable = BTreeMap<&'static str, String>;

/// A process under watch.
pub(crate) struct Watched {
    name: String,
    pid: i32,
    groups: Option<Groups>,
    /// By thread: its switches when it was last seen, voluntary and not.
    switches: HashMap<i32, (u64, u64)>,
}

impl Watched {
    pub(crate) fn new(name: String, pid: i32) -> Self {
        Self {
            name,
            pid,
            groups: None,
            switches: HashMap::new(),
        }
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name
    }

    /// Reads it now; none where it has ended.
    pub(crate) fn read(&mut self, unavailable: &mut Unavailable) -> Option<ProcessSample> {
        let root = Process::new(self.pid).ok()?;
        let mut sample = ProcessSample {
            process: self.name.clone(),
            at_ns: clock::now_ns(),
            ..Default::default()
        };
        let mut found = false;
        for process in tree(root) {
            // One that ends meanwhile is left out; what it spent its parent has.
            if let (Ok(stat), Ok(status)) = (process.stat(), process.status())
                && stat.state != 'Z'
            {
                found = true;
                add_times(&mut sample, &stat);
                add_memory(&mut sample, &process, &status, unavailable);
                self.see_switches(&process);
            }
        }
        let seen = self.switches.values();
        (sample.voluntary_switches, sample.involuntary_switches) =
            seen.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        self.add_shared(&mut sample, unavailable);
        found.then_some(sample)
    }

    fn see_switches(&mut self, process: &Process) {
        let Ok(tasks) = process.tasks() else { return };
        for task in tasks.flatten() {
            if let Ok(status) = task.status() {
                let counts = (status.voluntary_ctxt_switches, status.nonvoluntary_ctxt_switches);
                self.switches
                    .insert(task.tid, (counts.0.unwrap_or(0), counts.1.unwrap_or(0)));
            }
        }
    }

    /// What is not its alone: the folder of shared memory that it sees, and its control groups.
    fn add_shared(&mut self, sample: &mut ProcessSample, unavailable: &mut Unavailable) {
        sample.dev_shm_bytes = noted(dev_shm_bytes(self.pid), "dev_shm_bytes", unavailable);
        let groups = self.groups.get_or_insert_with(|| {
            Process::new(self.pid)
                .map(|process| Groups::own(&process))
                .unwrap_or_default()
        });
        if groups.is_none() {
            let reason = "the process has no control group of its own".to_owned();
            unavailable.entry("cgroup").or_insert(reason);
        }
        let read = groups.read();
        sample.cgroup_memory_bytes = read.memory_bytes;
        sample.cgroup_cpu_ns = read.cpu_ns;
        sample.cgroup_throttled_ns = read.throttled_ns;
    }
}

/// A process and all below it.
fn tree(root: Process) -> Vec<Process> {
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        let children = found[next].tasks().into_iter().flatten().flatten();
        let pids: Vec<u32> = children.filter_map(|task| task.children().ok()).flatten().collect();
        found.extend(pids.into_iter().filter_map(|pid| Process::new(pid as i32).ok()));
        next += 1;
    }
    found
}

fn add_times(sample: &mut ProcessSample, stat: &Stat) {
    let tick_ns = 1_000_000_000 / procfs::ticks_per_second();
    let (user, system) = ((stat.utime * tick_ns) as i64, (stat.stime * tick_ns) as i64);
    let ended = (stat.cutime * tick_ns as i64, stat.cstime * tick_ns as i64);
    sample.cpu_user_ns += user + ended.0;
    sample.cpu_system_ns += system + ended.1;
    sample.cpu_ns += cpu_ns(stat.pid).unwrap_or(user + system) + ended.0 + ended.1;
    sample.minor_faults += stat.minflt + stat.cminflt;
    sample.major_faults += stat.majflt + stat.cmajflt;
    sample.threads += stat.num_threads as u64;
}

/// The CPU time of all threads of a process, of those that have ended too.
fn cpu_ns(pid: i32) -> Option<i64> {
    let mut id: libc::clockid_t = 0;
    // SAFETY: `id` is a valid place for a clock's id; a process that is gone is refused with a status.
    let status = unsafe { libc::clock_getcpuclockid(pid, &raw mut id) };
    if status == 0 { cpu_clock_ns(id) } else { None }
}

fn add_memory(sample: &mut ProcessSample, process: &Process, status: &Status, unavailable: &mut Unavailable) {
    const KIB: u64 = 1024;
    sample.resident_bytes += status.vmrss.unwrap_or(0) * KIB;
    sample.peak_resident_bytes += status.vmhwm.unwrap_or(0) * KIB;
    sample.shared_resident_bytes += status.rssshmem.unwrap_or(0) * KIB;
    let count = process.fd_count().map(|count| count as u64);
    add(&mut sample.descriptors, noted(count, "descriptors", unavailable));
    let Some(map) = noted(rollup(process), "proportional_bytes", unavailable) else {
        return;
    };
    let of = |name: &str| map.get(name).copied().unwrap_or(0);
    add(&mut sample.proportional_bytes, Some(of("Pss")));
    add(
        &mut sample.unique_bytes,
        Some(of("Private_Clean") + of("Private_Dirty") + of("Private_Hugetlb")),
    );
    add(&mut sample.anonymous_bytes, Some(of("Anonymous")));
}

fn add(sum: &mut Option<u64>, part: Option<u64>) {
    if let Some(part) = part {
        *sum = Some(sum.unwrap_or(0) + part);
    }
}

fn rollup(process: &Process) -> ProcResult<HashMap<String, u64>> {
    let rollup = process.smaps_rollup()?;
    let maps = rollup.memory_map_rollup.0.into_iter();
    Ok(maps.map(|map| map.extension.map).next().unwrap_or_default())
}

/// What is used of the file system at `/dev/shm`, as the process sees it.
fn dev_shm_bytes(pid: i32) -> ProcResult<u64> {
    let path = CString::new(format!("/proc/{pid}/root/dev/shm")).expect("a number has no zero byte");
    // SAFETY: an all-zero statvfs is valid, and is filled in below.
    let mut of_fs: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends in a zero byte and `of_fs` outlives the call.
    let status = unsafe { libc::statvfs(path.as_ptr(), &raw mut of_fs) };
    if status != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok((of_fs.f_blocks - of_fs.f_bfree) * of_fs.f_frsize)
}

/// The figure, or its reason noted; that a process is gone is no reason.
fn noted<T>(read: ProcResult<T>, figure: &'static str, unavailable: &mut Unavailable) -> Option<T> {
    read.map_err(|error| {
        let gone = match &error {
            ProcError::NotFound(_) => true,
            ProcError::Io(error, _) => error.raw_os_error() == Some(libc::ESRCH),
            _ => false,
        };
        if !gone {
            unavailable.entry(figure).or_insert_with(|| error.to_string());
        }
    })
    .ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn myself() -> Watched {
        Watched::new("me".to_owned(), std::process::id() as i32)
    }

    fn read(watched: &mut Watched) -> ProcessSample {
        watched.read(&mut Unavailable::new()).unwrap()
    }

    /// A shell with a child of its own, both waiting for standard input to end.
    fn shell_with_child() -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", "cat; true"]).stdin(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn memory_that_is_touched_is_resident_unique_and_anonymous() {
        let mut me = myself();
        let before = read(&mut me);
        let block = std::hint::black_box(vec![7_u8; 64 << 20]);
        let after = read(&mut me);
        assert!(after.resident_bytes >= before.resident_bytes + (60 << 20));
        assert!(after.unique_bytes.unwrap() >= before.unique_bytes.unwrap() + (60 << 20));
        assert!(after.anonymous_bytes.unwrap() >= before.anonymous_bytes.unwrap() + (60 << 20));
        assert!(after.minor_faults > before.minor_faults);
        drop(block);
    }

    #[test]
    fn cpu_time_is_what_the_process_spent() {
        let mut me = myself();
        let before = read(&mut me);
        let until_ns = cpu_clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap() + 50_000_000;
        while cpu_clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap() < until_ns {
            std::hint::spin_loop();
        }
        assert!(read(&mut me).cpu_ns - before.cpu_ns >= 50_000_000);
    }

    #[test]
    fn descriptors_threads_and_switches_are_counted() {
        let mut me = myself();
        let before = read(&mut me);
        let files: Vec<_> = (0..20).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || receiver.recv());
        let after = read(&mut me);
        assert!(after.descriptors.unwrap() >= before.descriptors.unwrap() + 10);
        assert!(after.threads >= 2);
        drop((files, sender));
        thread.join().unwrap().unwrap_err();
        assert!(read(&mut me).voluntary_switches >= after.voluntary_switches);
    }

    #[test]
    fn what_a_process_starts_is_charged_to_it() {
        let mut shell = shell_with_child();
        let mut watched = Watched::new("shell".to_owned(), shell.id() as i32);
        let deadline_ns = clock::now_ns() + 10_000_000_000;
        while read(&mut watched).threads < 2 {
            assert!(clock::now_ns() < deadline_ns, "the shell never started its child");
            std::thread::yield_now();
        }
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert!(watched.read(&mut Unavailable::new()).is_none());
    }
}
