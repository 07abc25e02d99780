//! The log of a running Mosquitto: its last lines for an error message, and the line that says that it runs.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::ChildStderr;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// How many lines an error message shows.
const LINES: usize = 20;

/// The last lines that were read.
pub(super) struct Log(Arc<Mutex<VecDeque<String>>>);

impl Log {
    /// Reads on a thread until the log ends; sends the version when the broker says that it runs.
    pub(super) fn read(pipe: ChildStderr, versions: Sender<String>) -> Log {
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&lines);
        thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                if let Some(version) = running_version(&line) {
                    let _ = versions.send(version.to_owned());
                }
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() == LINES {
                    kept.pop_front();
                }
                kept.push_back(line);
            }
        });
        Log(lines)
    }

    /// The last lines, in one.
    pub(super) fn end(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join(" | ")
    }
}

/// `mosquitto version 2.0.11 running`
fn running_version(line: &str) -> Option<&str> {
    line.strip_prefix("mosquitto version ")?.strip_suffix(" running")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_line_that_says_so_means_that_it_runs() {
        assert_eq!(running_version("mosquitto version 2.0.11 running"), Some("2.0.11"));
        assert_eq!(running_version("mosquitto version 2.0.11 starting"), None);
        assert_eq!(running_version("Error: Address already in use"), None);
    }
}
