//! What the front says, line by line, and the wait for it until an instant.
//!
//! What is done with a command `watch` knows.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use middlemark_runtime::clock;
use serde::Deserialize;

use crate::error::WatchError;

/// Process ids by the names that the front knows the processes by.
pub(crate) type Pids = BTreeMap<String, i32>;

/// The first line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    pub(crate) period_ns: i64,
    pub(crate) processes: Pids,
}

/// Every other line.
#[derive(Debug, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Command {
    /// More processes; a name that is known gets another process.
    Watch { processes: Pids },
    /// The samples are asked for, and nothing after them.
    Stop {},
}

/// Reads a line as what it should be.
pub(crate) fn parse<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, WatchError> {
    serde_json::from_str(line).map_err(|error| WatchError::Nonsense {
        line: line.to_owned(),
        reason: error.to_string(),
    })
}

/// The lines of the front, as they come.
pub(crate) struct Lines(Receiver<String>);

impl Lines {
    /// Those of standard input, read by a thread of their own.
    pub(crate) fn of_standard_input() -> Self {
        Self::of(std::io::BufReader::new(std::io::stdin()))
    }

    fn of(input: impl BufRead + Send + 'static) -> Self {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in input.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self(lines)
    }

    /// The next line, however long it takes.
    pub(crate) fn next(&self) -> Result<String, WatchError> {
        self.0.recv().map_err(|_| WatchError::Gone)
    }

    /// The next line, or none when the instant has come.
    pub(crate) fn next_until(&self, instant_ns: i64) -> Result<Option<String>, WatchError> {
        let wait = Duration::from_nanos((instant_ns - clock::now_ns()).max(0) as u64);
        match self.0.recv_timeout(wait) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(WatchError::Gone),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_until_the_front_is_gone() {
        let lines = Lines::of(&b"one\ntwo\n"[..]);
        assert_eq!(lines.next().unwrap(), "one");
        assert_eq!(lines.next_until(i64::MAX).unwrap().as_deref(), Some("two"));
        assert!(matches!(lines.next(), Err(WatchError::Gone)));
    }

    #[test]
    fn an_instant_that_has_passed_is_not_waited_for() {
        let (_sender, receiver) = channel();
        assert!(Lines(receiver).next_until(clock::now_ns() - 1).unwrap().is_none());
    }

    #[test]
    fn commands_are_read_and_nonsense_is_refused() {
        let told = parse(r#"{"command": "watch", "processes": {"publisher_0": 7}}"#).unwrap();
        assert!(matches!(told, Command::Watch { processes } if processes["publisher_0"] == 7));
        assert!(parse::<Command>(r#"{"command": "dance"}"#).is_err());
        assert!(parse::<Spec>(r#"{"period_ns": 1}"#).is_err());
    }
}
