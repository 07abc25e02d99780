//! The shared memory that this process has mapped, and how many messages of its trial lie in it.
//!
//! It reads memory through the kernel, which answers with an error for what is gone meanwhile. What that proves is the
//! front's to judge; sockets are `sockets`'.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use memchr::memmem::Finder;
use middlemark_contract::MappedSegment;
use procfs::ProcResult;
use procfs::process::{MMPermissions, MMapPath, MemoryMap, Process};

use crate::clock;
use crate::message::header::{HEADER_BYTES, Header, SEQUENCE_AT, TOKEN_AT};

/// So much is looked through at once; then the clock is read.
const STEP_BYTES: u64 = 1 << 20;

/// Bit of a page's entry in `pagemap` (proc(5)): this process has it in memory.
const IS_PRESENT: u64 = 1 << 63;

/// What tells the messages of a segment apart: all of their header but its stamps.
type Identity = [u8; HEADER_BYTES - SEQUENCE_AT];

/// All shared memory that is mapped; messages with this token are looked for until an instant.
pub(crate) fn mapped(token: u32, until_ns: i64) -> ProcResult<Vec<MappedSegment>> {
    let process = Process::myself()?;
    let memory = Memory::of(&process).ok();
    let mut segments: BTreeMap<String, Segment> = BTreeMap::new();
    for map in process.maps()? {
        let Some(name) = name(&map) else {
            continue;
        };
        let segment = segments.entry(identity(&map)).or_insert_with(|| Segment::named(name));
        segment.size_bytes += map.address.1 - map.address.0;
        segment.is_whole &= memory.as_ref().is_some_and(|memory| {
            map.perms.contains(MMPermissions::READ)
                && memory.look_through(map.address.0..map.address.1, token, until_ns, &mut segment.messages)
        });
    }
    Ok(segments.into_iter().map(Segment::told).collect())
}

struct Segment {
    name: String,
    size_bytes: u64,
    messages: HashSet<Identity>,
    is_whole: bool,
}

impl Segment {
    fn named(name: String) -> Segment {
        Segment {
            name,
            size_bytes: 0,
            messages: HashSet::new(),
            is_whole: true,
        }
    }

    fn told((identity, segment): (String, Segment)) -> MappedSegment {
        let is_known = segment.is_whole || !segment.messages.is_empty();
        MappedSegment {
            name: segment.name,
            identity,
            size_bytes: segment.size_bytes,
            messages: is_known.then_some(segment.messages.len() as u32),
        }
    }
}

/// The name of shared memory; none of any other.
fn name(map: &MemoryMap) -> Option<String> {
    match &map.pathname {
        MMapPath::Path(path) if path.starts_with("/dev/shm") => Some(path.display().to_string()),
        MMapPath::Path(path) if path.to_string_lossy().starts_with("/memfd:") => Some(path.display().to_string()),
        MMapPath::Vsys(_) => Some("System V segment".to_owned()),
        _ => None,
    }
}

fn identity(map: &MemoryMap) -> String {
    format!("{}:{}:{}", map.dev.0, map.dev.1, map.inode)
}

/// This process's own memory, as the kernel reads it.
struct Memory {
    bytes: File,
    pages: File,
}

impl Memory {
    fn of(process: &Process) -> ProcResult<Memory> {
        Ok(Memory {
            bytes: process.mem()?,
            pages: process.open_relative("pagemap")?,
        })
    }

    /// Takes in the messages of a range; false where time or the kernel left some of it unread.
    fn look_through(&self, range: Range<u64>, token: u32, until_ns: i64, messages: &mut HashSet<Identity>) -> bool {
        let (bytes, page_bytes) = (token.to_le_bytes(), procfs::page_size());
        let finder = Finder::new(&bytes);
        let mut step = Vec::new();
        for begin in range.clone().step_by(STEP_BYTES as usize) {
            if clock::now_ns() >= until_ns {
                return false;
            }
            // One page more, for a header across the border.
            let end = range.end.min(begin + STEP_BYTES + page_bytes);
            let Some(present) = self.present(begin..end, page_bytes) else {
                return false;
            };
            for run in present {
                step.resize((run.end - run.start) as usize, 0);
                if self.bytes.read_exact_at(&mut step, run.start).is_err() {
                    return false;
                }
                collect(&finder, &step, messages);
            }
        }
        true
    }

    /// The stretches of a range whose pages this process has in memory: reading others would make them.
    fn present(&self, range: Range<u64>, page_bytes: u64) -> Option<Vec<Range<u64>>> {
        let mut entries = vec![0; ((range.end - range.start) / page_bytes * 8) as usize];
        let at = range.start / page_bytes * 8;
        self.pages.read_exact_at(&mut entries, at).ok()?;
        let mut stretches: Vec<Range<u64>> = Vec::new();
        for (entry, begin) in entries.chunks_exact(8).zip(range.step_by(page_bytes as usize)) {
            let entry = u64::from_ne_bytes(entry.try_into().expect("eight bytes"));
            match stretches.last_mut() {
                _ if entry & IS_PRESENT == 0 => {}
                Some(last) if last.end == begin => last.end += page_bytes,
                _ => stretches.push(begin..begin + page_bytes),
            }
        }
        Some(stretches)
    }
}

/// Takes in every message whose header is among these bytes.
fn collect(finder: &Finder<'_>, bytes: &[u8], messages: &mut HashSet<Identity>) {
    for at in finder.find_iter(bytes) {
        let header = at
            .checked_sub(TOKEN_AT)
            .and_then(|begin| bytes.get(begin..begin + HEADER_BYTES))
            .and_then(|bytes| <&[u8; HEADER_BYTES]>::try_from(bytes).ok());
        // Its stamps may be overwritten: some allocators keep their lists at the beginning of what is free.
        if let Some(bytes) = header.filter(|bytes| Header::decode(bytes).is_some()) {
            messages.insert(bytes[SEQUENCE_AT..].try_into().expect("the rest of a header"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;
    use crate::message::header::Phase;

    const TOKEN: u32 = 0xDEAD_BEEF;
    const SIZE_BYTES: usize = 4 << 20;

    fn header(sequence: u32, token: u32, sent_ns: i64) -> [u8; HEADER_BYTES] {
        Header {
            sent_ns,
            intended_ns: sent_ns,
            sequence,
            token,
            channel: 0,
            publisher: 0,
            asker: 0,
            phase: Phase::Approach,
        }
        .encode()
    }

    /// A memory file of this name, mapped until the process ends.
    fn mapped_file(name: &str) -> &'static mut [u8] {
        let name = CString::new(name).unwrap();
        // SAFETY: the file is made here and nobody else maps or shortens it, so that the bytes are this function's own.
        unsafe {
            let file = libc::memfd_create(name.as_ptr(), 0);
            assert_eq!(libc::ftruncate(file, SIZE_BYTES as i64), 0);
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            let begin = libc::mmap(std::ptr::null_mut(), SIZE_BYTES, rights, libc::MAP_SHARED, file, 0);
            assert_ne!(begin, libc::MAP_FAILED);
            libc::close(file);
            std::slice::from_raw_parts_mut(begin.cast(), SIZE_BYTES)
        }
    }

    /// What is told of a segment with these headers at these places.
    fn told(name: &str, headers: &[(usize, [u8; HEADER_BYTES])], until_ns: i64) -> MappedSegment {
        let bytes = mapped_file(name);
        for (at, header) in headers {
            bytes[*at..*at + HEADER_BYTES].copy_from_slice(header);
        }
        let all = mapped(TOKEN, until_ns).unwrap();
        let is_it = |segment: &MappedSegment| segment.name.contains(name);
        all.into_iter().find(is_it).expect("it is mapped")
    }

    #[test]
    fn each_message_of_the_trial_that_lies_in_shared_memory_is_counted_once() {
        let now_ns = clock::now_ns();
        let mut headless = header(4, TOKEN, now_ns);
        headless[HEADER_BYTES - 1] = 0;
        let across_a_step = STEP_BYTES as usize - 5;
        let headers = [
            (3, header(0, TOKEN, now_ns)),
            (100, header(0, TOKEN, now_ns - 1)),
            (across_a_step, header(1, TOKEN, now_ns)),
            (2 << 20, header(2, TOKEN, now_ns)),
            (200, header(3, TOKEN + 1, now_ns)),
            (300, headless),
        ];
        let segment = told("mm_messages", &headers, i64::MAX);
        assert_eq!((segment.messages, segment.size_bytes), (Some(3), 4 << 20));
    }

    #[test]
    fn of_what_there_was_no_time_to_look_through_nothing_is_said() {
        assert_eq!(
            told("mm_no_time", &[(0, header(0, TOKEN, clock::now_ns()))], 0).messages,
            None
        );
    }
}
