//! Removes the shared memory that Zenoh leaves behind at the end of a session.
//!
//! Zenoh marks each segment in use by a shared `flock` and unlinks it when an exclusive one succeeds. That fails twice:
//! of two processes that end together each finds the other's lock, so here each gives up its own locks first, and the
//! last one to do so finds none; and a segment that may not be locked into memory stays mapped, and its lock with it.
//! The unlinking itself is Zenoh's own, which takes only what no process has a lock on.

use std::collections::BTreeSet;
use std::fs;
use std::io::Result;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

/// Gives up this process's segments and has Zenoh remove those that nobody uses. To be called when the session is over.
///
/// # Errors
/// The system's error where the process can't read its own open files or mappings.
pub(crate) fn remove() -> Result<()> {
    let open = unlock()?;
    unmap_all_but(&open)?;
    zenoh::shm::cleanup_orphaned_shm_segments();
    Ok(())
}

/// Takes the locks off all segments that this process has open, and tells which those are.
fn unlock() -> Result<BTreeSet<PathBuf>> {
    let mut segments = BTreeSet::new();
    for entry in fs::read_dir("/proc/self/fd")?.flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok());
        let segment = fs::read_link(entry.path()).ok().filter(|path| is_segment(path));
        if let (Some(number), Some(segment)) = (number, segment) {
            // SAFETY: only takes a lock off an open file; Zenoh itself tries the lock again before it relies on it.
            unsafe { libc::flock(number, libc::LOCK_UN) };
            segments.insert(segment);
        }
    }
    Ok(segments)
}

/// Unmaps segments that are mapped but not open: Zenoh keeps a segment open as long as it uses it.
fn unmap_all_but(open: &BTreeSet<PathBuf>) -> Result<()> {
    for line in fs::read_to_string("/proc/self/maps")?.lines() {
        let Some((range, segment)) = mapped_segment(line) else {
            continue;
        };
        if !open.contains(segment) {
            // SAFETY: the mapping is what is left of a segment that Zenoh could not make; nothing refers to it.
            unsafe { libc::munmap(range.start as *mut libc::c_void, range.len()) };
        }
    }
    Ok(())
}

/// The addresses and the segment of a line of `/proc/self/maps`, if it is of one.
fn mapped_segment(line: &str) -> Option<(std::ops::Range<usize>, &Path)> {
    let path = Path::new(&line[line.find('/')?..]);
    let (start, end) = line.split(' ').next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    is_segment(path).then_some((address(start)?..address(end)?, path))
}

fn is_segment(path: &Path) -> bool {
    path.parent() == Some(Path::new("/dev/shm")) && path.extension().is_some_and(|extension| extension == "zenoh")
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn only_zenohs_segments_count() {
        assert!(is_segment(Path::new("/dev/shm/1291677929.zenoh")));
        assert!(!is_segment(Path::new("/dev/shm/1291677929.data")));
        assert!(!is_segment(Path::new("/tmp/1291677929.zenoh")));
    }

    #[test]
    fn a_mapping_tells_its_range_and_segment() {
        let line = "7f00-7f20 rw-s 00000000 00:1a 5      /dev/shm/12.zenoh";
        assert_eq!(
            mapped_segment(line),
            Some((0x7f00..0x7f20, Path::new("/dev/shm/12.zenoh")))
        );
        assert_eq!(
            mapped_segment("7f00-7f20 r-xp 00000000 00:1a 5      /lib/libc.so.6"),
            None
        );
        assert_eq!(mapped_segment("7f00-7f20 rw-p 00000000 00:00 0"), None);
    }

    #[test]
    fn a_segment_that_only_this_process_holds_is_removed() {
        let path = format!("/dev/shm/{}.zenoh", std::process::id());
        let file = File::create(&path).expect("there is shared memory");
        // SAFETY: the file is open.
        assert_eq!(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_SH) }, 0);
        remove().expect("a process can read its own open files");
        assert!(!Path::new(&path).exists());
    }
}
