//! Keeps the named semaphores of this process's shared memory ports in sight of whoever cleans up after it.
//!
//! Fast DDS guards each port `<name>` by a semaphore `sem.<name>_mutex` that it maps for a moment only, so that neither the maps nor
//! the open files of a killed process would tell of it; its other files are mapped or locked as long as the process lives.

use std::collections::BTreeSet;
use std::fs::{self, File};

const SHARED_MEMORY: &str = "/dev/shm/";

/// Opens the semaphores of all ports that this process has mapped; to be held as long as the ports.
pub(crate) fn hold() -> Vec<File> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mapped: BTreeSet<&str> = maps
        .lines()
        .filter_map(|line| line.split_once(SHARED_MEMORY).map(|(_, name)| name))
        .collect();
    mapped
        .into_iter()
        .filter_map(|name| File::open(format!("{SHARED_MEMORY}sem.{name}_mutex")).ok())
        .collect()
}
