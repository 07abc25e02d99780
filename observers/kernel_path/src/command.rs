//! What the front says: the spec's line, then commands, until it is gone.
//!
//! Lines are read only when there is something to read, so that the ring buffer is looked at all the while.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::error::ObserverError;

/// The first line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    /// The `.npy` file to write.
    pub(crate) recording: PathBuf,
    /// Processes to follow, with their threads and children, by their numbers on this machine.
    pub(crate) processes: Vec<u32>,
    /// Processes that carry others' packets on, of which only the packets are recorded that they send.
    #[serde(default)]
    pub(crate) forwarders: Vec<u32>,
    /// Processes of other network namespaces through which packets pass.
    #[serde(default)]
    pub(crate) switches: Vec<u32>,
}

/// Each later line.
#[derive(Debug, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Command {
    /// Follows these too.
    Follow { processes: Vec<u32> },
    /// Ends the recording, as the end of standard input does.
    Stop {},
}

/// Reads one line's JSON.
pub(crate) fn parse<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, ObserverError> {
    serde_json::from_str(line).map_err(|error| ObserverError::Asked(error.to_string()))
}

/// What there was to read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Line(String),
    Nothing,
    /// The front is gone.
    End,
}

/// What the front writes, by lines. There is no other buffer than `pending`: `poll` knows of none.
pub(crate) struct Lines {
    input: File,
    pending: Vec<u8>,
}

impl Lines {
    pub(crate) fn new(input: OwnedFd) -> Self {
        Self {
            input: File::from(input),
            pending: Vec::new(),
        }
    }

    /// Waits for the first line.
    pub(crate) fn first(&mut self) -> Result<String, ObserverError> {
        loop {
            match self.next(Duration::from_secs(3600))? {
                Heard::Line(line) => return Ok(line),
                Heard::Nothing => {}
                Heard::End => return Err(ObserverError::Asked("standard input ended before the spec".to_owned())),
            }
        }
    }

    /// The next line, where one comes in time.
    pub(crate) fn next(&mut self, patience: Duration) -> Result<Heard, ObserverError> {
        if let Some(line) = take_line(&mut self.pending) {
            return Ok(Heard::Line(line));
        }
        if !self.is_readable(patience)? {
            return Ok(Heard::Nothing);
        }
        let mut bytes = [0; 4096];
        match self.input.read(&mut bytes) {
            Ok(0) => Ok(Heard::End),
            Ok(count) => {
                self.pending.extend_from_slice(&bytes[..count]);
                Ok(take_line(&mut self.pending).map_or(Heard::Nothing, Heard::Line))
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Heard::Nothing),
            Err(error) => Err(ObserverError::Front(error)),
        }
    }

    fn is_readable(&self, patience: Duration) -> Result<bool, ObserverError> {
        let mut waited = libc::pollfd {
            fd: self.input.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: `waited` is one valid pollfd.
        match unsafe { libc::poll(&raw mut waited, 1, patience.as_millis() as i32) } {
            0.. => Ok(waited.revents != 0),
            _ => match std::io::Error::last_os_error() {
                error if error.kind() == ErrorKind::Interrupted => Ok(false),
                error => Err(ObserverError::Front(error)),
            },
        }
    }
}

fn take_line(pending: &mut Vec<u8>) -> Option<String> {
    let end = pending.iter().position(|&byte| byte == b'\n')?;
    let line: Vec<u8> = pending.drain(..=end).collect();
    Some(String::from_utf8_lossy(&line).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_line_longer_than_one_reading_is_heard_without_more_to_read() {
        let (reader, mut writer) = UnixStream::pair().unwrap();
        let line = "7".repeat(5000);
        writeln!(writer, "{line}").unwrap();
        let mut lines = Lines::new(reader.into());
        assert_eq!(lines.next(Duration::ZERO).unwrap(), Heard::Nothing);
        assert_eq!(lines.next(Duration::ZERO).unwrap(), Heard::Line(line));
    }

    #[test]
    fn lines_are_taken_whole_and_in_order() {
        let mut pending = b"one\ntwo\nrest".to_vec();
        assert_eq!(take_line(&mut pending).as_deref(), Some("one"));
        assert_eq!(take_line(&mut pending).as_deref(), Some("two"));
        assert_eq!(take_line(&mut pending), None);
        assert_eq!(pending, b"rest");
    }

    #[test]
    fn what_cannot_be_meant_is_an_error_of_usage() {
        for line in [
            "",
            "{}",
            r#"{"recording": "x", "processes": [-1]}"#,
            r#"{"recording": "x", "processes": [], "n": 1}"#,
        ] {
            assert_eq!(parse::<Spec>(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
