//! A ring's shared memory: a file in `/dev/shm` that the first participant creates and the last one removes.
//!
//! It maps and locks and gives out references into the mapping; what they mean is the writer's and the readers' affair.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::layout::{Head, Layout, Place, place_offset};
use crate::position::Count;
use crate::presence::{self, Participant};

/// Where segments lie.
pub const FOLDER: &str = "/dev/shm";

/// A mapped segment with this process as one of its participants.
#[derive(Debug)]
pub struct Segment {
    path: PathBuf,
    file: File,
    base: NonNull<u8>,
    layout: Layout,
    participant: Participant,
    left: AtomicBool,
}

// SAFETY: the mapping belongs to the segment and moves with it; everything shared in it is atomic or guarded by the
// protocol of positions (see `fill` and `see`).
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// Opens the segment of this name, or creates it, and enters it as a participant.
    pub(crate) fn attach(name: &str, layout: Layout, participant: Participant) -> io::Result<Segment> {
        let path = Path::new(FOLDER).join(name);
        let file = open_current(&path)?;
        if !presence::enter(&file, participant)? {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                format!("{} already has its {participant}", path.display()),
            ));
        }
        let mapped = reserve(&file, layout.total_bytes()).and_then(|()| map(&file, layout.total_bytes()));
        let base = mapped.inspect_err(|_| drop(remove_if_alone(&file, &path, participant)))?;
        presence::open_gate(&file)?;
        Ok(Segment {
            path,
            file,
            base,
            layout,
            participant,
            left: AtomicBool::new(false),
        })
    }

    /// Where its file lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its size and shape.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Leaves it, and removes its file where nobody else is there; nothing may be written or read any more.
    ///
    /// # Errors
    /// What the kernel reported; the file may then be left.
    pub fn leave(&self) -> io::Result<()> {
        if self.left.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        if let Participant::Reader(index) = self.participant {
            let place = self.place(index);
            place.detach(place.attachments.load(Ordering::SeqCst));
        }
        presence::close_gate(&self.file)?;
        remove_if_alone(&self.file, &self.path, self.participant)?;
        presence::open_gate(&self.file)
    }

    /// Whether a reader's process still lives.
    pub(crate) fn is_there(&self, reader: usize) -> bool {
        presence::is_there(&self.file, Participant::Reader(reader)).unwrap_or(true)
    }

    #[inline]
    pub(crate) fn head(&self) -> &Head {
        // SAFETY: the mapping begins with a Head, is aligned to a page, all zero bytes are a valid one, and all that is
        // in it is atomic; it lives as long as `self`.
        unsafe { self.base.cast::<Head>().as_ref() }
    }

    #[inline]
    pub(crate) fn place(&self, reader: usize) -> &Place {
        assert!(reader < self.layout.readers(), "the ring has no reader {reader}");
        // SAFETY: as for `head`; the offset of an existing reader lies within the mapping and is a multiple of its
        // alignment.
        unsafe { self.base.add(place_offset(reader)).cast::<Place>().as_ref() }
    }

    /// Has the slot at a count filled.
    ///
    /// # Safety
    /// Only the writer may, and only while no attached reader's `taken` is a whole ring behind `count`.
    #[inline]
    pub(crate) unsafe fn fill(&self, count: Count, fill: impl FnOnce(&mut [MaybeUninit<u8>])) {
        let slot = self.slot(count).cast::<MaybeUninit<u8>>();
        // SAFETY: the slot has `message_bytes`, and the caller is alone with it.
        fill(unsafe { std::slice::from_raw_parts_mut(slot.as_ptr(), self.layout.message_bytes()) });
    }

    /// Has the message in the slot at a count seen.
    ///
    /// # Safety
    /// Only a reader may, and only while `count` lies between its `taken` and `written`.
    #[inline]
    pub(crate) unsafe fn see(&self, count: Count, see: impl FnOnce(&[u8])) {
        // SAFETY: the slot has `message_bytes` of initialised memory, which nobody changes meanwhile.
        see(unsafe { std::slice::from_raw_parts(self.slot(count).as_ptr(), self.layout.message_bytes()) });
    }

    #[inline]
    fn slot(&self, count: Count) -> NonNull<u8> {
        let slot = count.modulo(self.layout.slots());
        // SAFETY: the modulo makes it an existing slot, which lies within the mapping.
        unsafe { self.base.add(self.layout.slot_offset(slot)) }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let _ = self.leave();
        // SAFETY: `map` mapped exactly this, and nothing borrows from it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.layout.total_bytes()) };
    }
}

/// Opens or creates the file and closes its gate; tries again where the file was removed in between.
fn open_current(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        check_owner(&file, path)?;
        presence::close_gate(&file)?;
        match std::fs::metadata(path) {
            Ok(current) if current.ino() == file.metadata()?.ino() => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Refuses another user's file, whom it would tell all that is written, and who could write whatever is read.
fn check_owner(file: &File, path: &Path) -> io::Result<()> {
    // SAFETY: the call takes nothing and can't fail.
    let own = unsafe { libc::geteuid() };
    let owner = file.metadata()?.uid();
    if owner == own {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "{} is user {owner}'s, and this participant runs as {own}",
            path.display()
        ),
    ))
}

/// Gives the file its size and real memory, so that a full `/dev/shm` is an error here and no signal later.
fn reserve(file: &File, bytes: usize) -> io::Result<()> {
    let present = file.metadata()?.len();
    if present == bytes as u64 {
        return Ok(());
    }
    if present != 0 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the segment has {present} bytes, this participant's ring {bytes}"),
        ));
    }
    // SAFETY: the call takes numbers only.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

fn map(file: &File, bytes: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a new shared mapping of an open file of this size; populated, so that no page fault is left for later.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_POPULATE,
            file.as_raw_fd(),
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(base.cast()).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Leaves the closed gate's file, and removes it where nobody else is there.
fn remove_if_alone(file: &File, path: &Path, participant: Participant) -> io::Result<()> {
    presence::leave(file, participant)?;
    if presence::is_anyone_there(file)? {
        return Ok(());
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
