//! What a trial's processes leave on the machine: processes, shared memory, sockets, ports.
//!
//! Only what provably belongs to the trial counts: children of its processes, shared memory that they had mapped or
//! open and that was not there before, sockets in its folder or with its name, ports of its range; other trials of the machine don't disturb this.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::place::Place;
use crate::process::PATIENCE;

/// What the processes of a trial hold while they run.
#[derive(Debug)]
pub(crate) struct Traces {
    processes: BTreeSet<Lifetime>,
    shared_memory: BTreeSet<PathBuf>,
}

/// A process that can't be confused with a later one of the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Lifetime {
    id: u32,
    started_ticks: u64,
}

impl Traces {
    /// What these processes and their descendants hold now.
    pub(crate) fn of(ids: BTreeSet<u32>) -> Traces {
        let family = descendants(ids);
        Traces {
            shared_memory: family.iter().flat_map(|id| shared_memory_of(*id)).collect(),
            processes: family.into_iter().filter_map(Lifetime::of).collect(),
        }
    }

    /// Lists the shared memory that does not bear the trial's name, so that a sweep removes it should this process be killed.
    pub(crate) fn enter(&self, place: &Place) -> Result<()> {
        self.shared_memory_since(place)
            .filter(|path| !path.to_string_lossy().contains(&place.rendezvous.name))
            .try_for_each(|path| place.enter(path))
    }

    /// Removes the shared memory that killed processes could not remove themselves, once all of the trial have ended; what
    /// has the trial's name or is listed goes with the place.
    pub(crate) fn remove(&self, place: &Place) {
        for path in self.shared_memory_since(place) {
            let _ = fs::remove_file(path);
        }
    }

    /// What is still there of the shared memory, without what was there before the place was claimed.
    fn shared_memory_since(&self, place: &Place) -> impl Iterator<Item = &PathBuf> {
        self.shared_memory
            .iter()
            .filter(|path| path.exists() && !place.found_before(path))
    }

    /// Fails, naming it, if anything of the trial is still there once its processes have ended.
    pub(crate) fn check_gone(&self, place: &Place) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        // A child that its worker killed may be still being reaped: processes alone are waited for.
        while self.alive().next().is_some() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        let mut left: Vec<String> = self
            .alive()
            .map(|lifetime| format!("process {}", lifetime.id))
            .collect();
        left.extend(
            self.shared_memory_since(place)
                .map(|path| format!("shared memory {}", path.display())),
        );
        left.extend(
            place
                .named_shared_memory()
                .map(|path| format!("shared memory {}", path.display())),
        );
        left.extend(sockets_in(&place.rendezvous.folder));
        left.extend(abstract_sockets(&place.rendezvous.name));
        left.extend(ports(place));
        ensure!(
            left.is_empty(),
            "left on the machine after closing: {}",
            left.join(", ")
        );
        Ok(())
    }

    fn alive(&self) -> impl Iterator<Item = &Lifetime> {
        self.processes
            .iter()
            .filter(|lifetime| Lifetime::of(lifetime.id).as_ref() == Some(lifetime))
    }
}

impl Lifetime {
    fn of(id: u32) -> Option<Lifetime> {
        let fields = stat(id)?;
        // A zombie has ended; its parent's wait is all that is missing.
        (fields[0] != "Z").then_some(())?;
        Some(Lifetime {
            id,
            started_ticks: fields[19].parse().ok()?,
        })
    }
}

/// The fields of /proc/<id>/stat from the state on.
fn stat(id: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(") ")?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

fn descendants(mut family: BTreeSet<u32>) -> BTreeSet<u32> {
    let parents: Vec<(u32, u32)> = names_in(Path::new("/proc"))
        .filter_map(|name| name.parse().ok())
        .filter_map(|id| Some((id, stat(id)?[1].parse().ok()?)))
        .collect();
    loop {
        let before = family.len();
        let children: Vec<_> = parents.iter().filter(|(_, parent)| family.contains(parent)).collect();
        family.extend(children.iter().map(|(id, _)| id));
        if family.len() == before {
            return family;
        }
    }
}

fn shared_memory_of(id: u32) -> Vec<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{id}/maps")).unwrap_or_default();
    let mapped = maps
        .lines()
        .filter_map(|line| Some(line[line.find("/dev/shm/")?..].to_owned()));
    let folder = PathBuf::from(format!("/proc/{id}/fd"));
    let open = names_in(&folder)
        .filter_map(|name| fs::read_link(folder.join(name)).ok())
        .filter_map(|target| {
            target
                .to_str()
                .filter(|path| path.starts_with("/dev/shm/"))
                .map(str::to_owned)
        });
    mapped
        .chain(open)
        .filter(|path| !path.ends_with(" (deleted)"))
        .map(PathBuf::from)
        .collect()
}

fn sockets_in(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_socket() => found.push(format!("socket {}", entry.path().display())),
            Ok(kind) if kind.is_dir() => found.extend(sockets_in(&entry.path())),
            _ => {}
        }
    }
    found
}

fn abstract_sockets(name: &str) -> Vec<String> {
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let own = table.lines().filter_map(|line| line.split_whitespace().nth(7));
    own.filter(|path| path.contains(name))
        .map(|path| format!("socket {path}"))
        .collect()
}

/// Bound ports of the trial's range; a closed connection that only waits out its time is no trace.
fn ports(place: &Place) -> Vec<String> {
    const LISTENING: &str = "0A";
    let first = u32::from(place.rendezvous.first_port);
    let range = first..first + u32::from(place.rendezvous.ports);
    let mut found = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<_> = line.split_whitespace().collect();
            let port = fields
                .get(1)
                .and_then(|local| u32::from_str_radix(local.rsplit(':').next()?, 16).ok());
            let bound = table.starts_with("udp") || fields.get(3) == Some(&LISTENING);
            found.extend(
                port.filter(|port| bound && range.contains(port))
                    .map(|port| format!("{table} port {port}")),
            );
        }
    }
    found
}

fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
}
