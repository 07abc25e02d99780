//! Who is there: each participant of a segment holds a lock on one byte of its file, which the kernel lets go of with
//! the process, however that ends.
//!
//! Open file description locks (`fcntl_locking(2)`): they hold between containers and within one process alike, and no
//! process number is ever compared. Locks never touch the bytes themselves.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A participant of a segment, or the gate that all pass who come or go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Participant {
    Writer,
    Reader(usize),
}

impl Participant {
    fn byte(self) -> i64 {
        match self {
            Participant::Writer => 0,
            Participant::Reader(index) => 1 + index as i64,
        }
    }
}

impl fmt::Display for Participant {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Participant::Writer => write!(text, "writer"),
            Participant::Reader(index) => write!(text, "reader {index}"),
        }
    }
}

/// Behind the byte of any reader.
const GATE_BYTE: i64 = 1 << 40;

/// Enters as a participant; false where another already is this participant.
pub(crate) fn enter(file: &File, participant: Participant) -> io::Result<bool> {
    match control(file, libc::F_OFD_SETLK, libc::F_WRLCK, participant.byte(), 1) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        result => result.map(|_| true),
    }
}

/// Is no participant any more.
pub(crate) fn leave(file: &File, participant: Participant) -> io::Result<()> {
    control(file, libc::F_OFD_SETLK, libc::F_UNLCK, participant.byte(), 1).map(drop)
}

/// Whether another open file has this participant's lock.
pub(crate) fn is_there(file: &File, participant: Participant) -> io::Result<bool> {
    control(file, libc::F_OFD_GETLK, libc::F_WRLCK, participant.byte(), 1).map(|found| found != libc::F_UNLCK)
}

/// Whether any other open file has any participant's lock.
pub(crate) fn is_anyone_there(file: &File) -> io::Result<bool> {
    control(file, libc::F_OFD_GETLK, libc::F_WRLCK, 0, GATE_BYTE).map(|found| found != libc::F_UNLCK)
}

/// Waits until no one else is coming or going; the gate is open again when the file is closed or [`open_gate`] called.
pub(crate) fn close_gate(file: &File) -> io::Result<()> {
    loop {
        match control(file, libc::F_OFD_SETLKW, libc::F_WRLCK, GATE_BYTE, 1) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result.map(drop),
        }
    }
}

pub(crate) fn open_gate(file: &File) -> io::Result<()> {
    control(file, libc::F_OFD_SETLK, libc::F_UNLCK, GATE_BYTE, 1).map(drop)
}

fn control(file: &File, command: i32, kind: i32, start: i64, length: i64) -> io::Result<i32> {
    // SAFETY: flock is plain data, for which zero is valid; open file description locks want a process number of 0.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as i16;
    lock.l_whence = libc::SEEK_SET as i16;
    lock.l_start = start;
    lock.l_len = length;
    // SAFETY: `lock` lives across the call, which reads and writes only it.
    let status = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) };
    if status == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(i32::from(lock.l_type))
}
