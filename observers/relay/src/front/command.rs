//! What the front says: the spec's line, then commands, until it is gone.
//!
//! Lines are read only when there is something to read, so the relay never waits for the front.

use std::io::{ErrorKind, Read};
use std::os::fd::{AsRawFd, RawFd};

use serde::Deserialize;

use crate::error::RelayError;
use crate::link::impairment::Impairment;

/// A command, one line of JSON.
#[derive(Debug, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Command {
    /// Changes the impairment at once; a direction left out stays as it is. Ends the trace.
    Set {
        #[serde(default)]
        outgoing: Option<Impairment>,
        #[serde(default)]
        incoming: Option<Impairment>,
    },
    /// The trace's points count from this instant on.
    Begin { at_ns: i64 },
    /// Asks for the counts so far.
    Report {},
    /// Ends the relay.
    Stop {},
}

impl Command {
    /// Reads and checks a command.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let command = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if let Self::Set { outgoing, incoming } = &command {
            for (name, impairment) in [("outgoing", outgoing), ("incoming", incoming)] {
                impairment
                    .as_ref()
                    .map_or(Ok(()), |impairment| impairment.check(name))?;
            }
        }
        Ok(command)
    }
}

/// Standard input by lines.
pub(crate) struct Lines<R> {
    input: R,
    pending: Vec<u8>,
}

impl<R: Read + AsRawFd> Lines<R> {
    pub(crate) fn descriptor(&self) -> RawFd {
        self.input.as_raw_fd()
    }
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            pending: Vec::new(),
        }
    }

    /// Waits for the first line.
    pub(crate) fn first(&mut self) -> Result<String, RelayError> {
        loop {
            if let Some(line) = self.next() {
                return Ok(line);
            }
            if !self.read()? {
                return Err(RelayError::NoSpec);
            }
        }
    }

    /// Reads once what there is to read; false when the front is gone.
    pub(crate) fn read(&mut self) -> Result<bool, RelayError> {
        let mut bytes = [0; 4096];
        match self.input.read(&mut bytes) {
            Ok(count) => {
                self.pending.extend_from_slice(&bytes[..count]);
                Ok(count > 0)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(RelayError::Front(error)),
        }
    }

    /// The next whole line that was read.
    pub(crate) fn next(&mut self) -> Option<String> {
        let end = self.pending.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.pending.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line).trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_whatever_is_read_at_once() {
        let mut lines = Lines::new(&b"spec\n{\"command\":\"stop\"}\nrest"[..]);
        assert_eq!(lines.first().unwrap(), "spec");
        assert_eq!(lines.next().unwrap(), r#"{"command":"stop"}"#);
        assert_eq!(lines.next(), None);
        assert!(!lines.read().unwrap());
    }

    #[test]
    fn an_end_before_the_spec_is_an_error_of_usage() {
        assert_eq!(Lines::new(&b"half a spec"[..]).first().unwrap_err().exit_code(), 2);
    }

    #[test]
    fn commands_are_read_and_nonsense_is_refused() {
        assert!(matches!(
            Command::parse(r#"{"command": "begin", "at_ns": 5}"#),
            Ok(Command::Begin { at_ns: 5 })
        ));
        let set = Command::parse(r#"{"command": "set", "incoming": {"loss": 1}}"#);
        assert!(
            matches!(set, Ok(Command::Set { outgoing: None, incoming: Some(impairment) }) if impairment.loss > 0.9)
        );
        for line in [
            "",
            r#"{"command": "dance"}"#,
            r#"{"command": "stop", "now": true}"#,
            r#"{"command": "set", "outgoing": {"loss": 7}}"#,
        ] {
            assert!(Command::parse(line).is_err(), "{line}");
        }
    }
}
