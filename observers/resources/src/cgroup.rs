//! The control groups' view of a process, in either version of their interface, where it has a group of its own.
//!
//! A group that the observer is in too holds others than the trial's processes and says nothing of them.

use std::fs;
use std::path::{Path, PathBuf};

use procfs::process::{MountInfo, Process};

const NS_A_US: u64 = 1_000;

/// Where a process's groups say what it used; a field is none where it has no such group of its own.
#[derive(Debug, Default, Clone)]
pub(crate) struct Groups {
    memory: Option<PathBuf>,
    cpu: Option<PathBuf>,
    throttling: Option<PathBuf>,
}

/// What they say.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) throttled_ns: Option<u64>,
}

impl Groups {
    /// Those of a process that are not the observer's.
    pub(crate) fn own(process: &Process) -> Self {
        Self {
            memory: own_group(process, "memory"),
            cpu: own_group(process, "cpuacct"),
            throttling: own_group(process, "cpu"),
        }
    }

    /// Whether there is any.
    pub(crate) fn is_none(&self) -> bool {
        self.memory.is_none() && self.cpu.is_none() && self.throttling.is_none()
    }

    /// What they say now.
    pub(crate) fn read(&self) -> Reading {
        Reading {
            memory_bytes: first_of(self.memory.as_deref(), &["memory.current", "memory.usage_in_bytes"]),
            cpu_ns: cpu_ns(self.cpu.as_deref()),
            throttled_ns: throttled_ns(self.throttling.as_deref()),
        }
    }
}

/// The folder of a process's group for a controller, unless it is the observer's.
fn own_group(process: &Process, controller: &str) -> Option<PathBuf> {
    let (its, its_version) = group(process, controller)?;
    let (mine, _) = group(&Process::myself().ok()?, controller)?;
    if its == mine || its == "/" {
        return None;
    }
    let mounts = Process::myself().ok()?.mountinfo().ok()?;
    let mount = mounts.0.iter().find(|mount| carries(mount, controller, its_version))?;
    let folder = mount.mount_point.join(its.trim_start_matches('/'));
    folder.is_dir().then_some(folder)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The group's name: in the controller's own hierarchy, or else in the one of all controllers.
fn group(process: &Process, controller: &str) -> Option<(String, Version)> {
    let groups = process.cgroups().ok()?.0;
    let own = groups
        .iter()
        .find(|group| group.controllers.iter().any(|each| each == controller));
    let of_all = || groups.iter().find(|group| group.hierarchy == 0);
    own.map(|group| (group.pathname.clone(), Version::One))
        .or_else(|| of_all().map(|group| (group.pathname.clone(), Version::Two)))
}

fn carries(mount: &MountInfo, controller: &str, version: Version) -> bool {
    match version {
        Version::One => mount.fs_type == "cgroup" && mount.super_options.contains_key(controller),
        Version::Two => mount.fs_type == "cgroup2",
    }
}

fn first_of(folder: Option<&Path>, names: &[&str]) -> Option<u64> {
    let folder = folder?;
    names
        .iter()
        .find_map(|name| fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok())
}

fn cpu_ns(folder: Option<&Path>) -> Option<u64> {
    first_of(folder, &["cpuacct.usage"]).or_else(|| Some(statistic(folder, "usage_usec")? * NS_A_US))
}

fn throttled_ns(folder: Option<&Path>) -> Option<u64> {
    statistic(folder, "throttled_time").or_else(|| Some(statistic(folder, "throttled_usec")? * NS_A_US))
}

/// A figure of `cpu.stat`.
fn statistic(folder: Option<&Path>, name: &str) -> Option<u64> {
    let text = fs::read_to_string(folder?.join("cpu.stat")).ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(key, _)| *key == name)?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(name: &str, files: &[(&str, &str)]) -> (PathBuf, Groups) {
        let folder = std::env::temp_dir().join(format!("mm-groups-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            fs::write(folder.join(file), text).unwrap();
        }
        let at = Some(folder.clone());
        let groups = Groups {
            memory: at.clone(),
            cpu: at.clone(),
            throttling: at,
        };
        (folder, groups)
    }

    #[test]
    fn both_versions_of_the_interface_are_read_into_the_same_units() {
        let one = [
            ("memory.usage_in_bytes", "4096\n"),
            ("cpuacct.usage", "5000\n"),
            ("cpu.stat", "nr_periods 1\nthrottled_time 7000\n"),
        ];
        let two = [
            ("memory.current", "4096\n"),
            ("cpu.stat", "usage_usec 5\nthrottled_usec 7\n"),
        ];
        let expected = Reading {
            memory_bytes: Some(4096),
            cpu_ns: Some(5000),
            throttled_ns: Some(7000),
        };
        for (name, files) in [("one", &one[..]), ("two", &two[..])] {
            let (folder, groups) = groups(name, files);
            let read = groups.read();
            fs::remove_dir_all(folder).unwrap();
            assert_eq!(read, expected, "{name}");
        }
    }

    #[test]
    fn a_process_in_the_observers_own_groups_has_none() {
        let groups = Groups::own(&Process::myself().unwrap());
        assert!(groups.is_none());
        assert_eq!(groups.read(), Reading::default());
    }
}
