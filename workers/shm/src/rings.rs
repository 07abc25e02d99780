//! Which rings a trial has: one for each publisher of a channel, shared by all of its subscribers.
//!
//! Names and sizes follow from the spec and the user alone, so that whoever comes first can create a ring; it opens none.

use std::ffi::CString;
use std::io;

use middlemark_contract::Refusal;
use middlemark_ring::{FOLDER, Layout};
use middlemark_runtime::{Channel, user};

/// The name of the ring of a channel's publisher: with the user's number, so that no other user's is in its place.
pub(crate) fn name(rendezvous: &str, channel: &Channel, publisher: usize) -> String {
    format!("middlemark_{rendezvous}_{}_{}_{publisher}", user::id(), channel.number)
}

/// The size of each ring of a channel.
pub(crate) fn layout(channel: &Channel) -> Layout {
    Layout::new(channel.size_bytes, channel.subscribers.len(), channel.queued_messages())
}

/// Refuses a trial whose rings don't fit into the machine's shared memory.
pub(crate) fn accept(channels: &[Channel]) -> Result<(), Refusal> {
    let needed: usize = channels
        .iter()
        .map(|channel| channel.publishers.len() * layout(channel).total_bytes())
        .sum();
    let available = available_bytes().map_err(|error| Refusal {
        capability: "size_bytes".into(),
        reason: format!("the room in {FOLDER} can't be told: {error}"),
    })?;
    if needed as u64 <= available {
        return Ok(());
    }
    Err(Refusal {
        capability: "size_bytes".into(),
        reason: format!(
            "the trial's rings (what `queue` has room for, for each publisher) need {needed} bytes, \
             {FOLDER} has {available} left"
        ),
    })
}

fn available_bytes() -> io::Result<u64> {
    let path = CString::new(FOLDER)?;
    // SAFETY: statvfs is plain data, for which zero is valid.
    let mut statistics: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path is a string with its end, `statistics` lives across the call.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut statistics) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(statistics.f_bavail * statistics.f_frsize)
}
