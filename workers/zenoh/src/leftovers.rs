//! Removes the shared memory that Zenoh leaves behind when the processes of a trial end at the same time.
//!
//! Zenoh marks each segment in use by a shared `flock` and unlinks it when an exclusive one succeeds; of two processes
//! that end together each finds the other's lock and leaves the segment. Here each gives up its own locks first, so
//! that the last one to do so finds none. It touches only segments that this process has open, after the session's end.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};

/// Unlinks the segments that this process has open and that no other process uses.
///
/// # Errors
/// The system's error where the process can't read its own open files.
pub(crate) fn remove() -> std::io::Result<()> {
    let mut segments = BTreeSet::new();
    for entry in fs::read_dir("/proc/self/fd")?.flatten() {
        let Ok(path) = fs::read_link(entry.path()) else {
            continue;
        };
        let number = entry.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok());
        if let (true, Some(number)) = (is_segment(&path), number) {
            // SAFETY: only takes a lock off an open file; Zenoh itself tries the lock again before it relies on it.
            unsafe { libc::flock(number, libc::LOCK_UN) };
            segments.insert(path);
        }
    }
    for segment in segments {
        unlink_if_unused(&segment);
    }
    Ok(())
}

fn is_segment(path: &Path) -> bool {
    path.parent() == Some(Path::new("/dev/shm")) && path.extension().is_some_and(|extension| extension == "zenoh")
}

fn unlink_if_unused(segment: &PathBuf) {
    // Already gone where another process of the trial has been faster.
    let Ok(file) = File::open(segment) else { return };
    // SAFETY: the file is open; the lock ends with it.
    let unused = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0;
    if unused {
        let _ = fs::remove_file(segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_zenohs_segments_count() {
        assert!(is_segment(Path::new("/dev/shm/1291677929.zenoh")));
        assert!(!is_segment(Path::new("/dev/shm/1291677929.data")));
        assert!(!is_segment(Path::new("/tmp/1291677929.zenoh")));
    }

    #[test]
    fn a_segment_is_removed_once_nobody_else_holds_it() {
        let path = PathBuf::from(format!("/dev/shm/{}.zenoh", std::process::id()));
        let other = File::create(&path).expect("there is shared memory");
        // SAFETY: the file is open.
        assert_eq!(unsafe { libc::flock(other.as_raw_fd(), libc::LOCK_SH) }, 0);
        unlink_if_unused(&path);
        assert!(path.exists(), "a segment in use stays");
        drop(other);
        unlink_if_unused(&path);
        assert!(!path.exists());
    }
}
