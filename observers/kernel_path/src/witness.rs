//! A second witness: what devices have counted as sent, held against how many packets the programs were run for.
//!
//! A kernel may run no program for a packet and count none as left out. Where packets pass while a recording begins or ends,
//! as many may hide some that are missed; a device for which no program was ever run is passed over, as it may count otherwise.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek};

use crate::error::ObserverError;
use crate::program::{Place, Program};

/// How often both are read at each end: a packet under way is counted by one of them only.
const READINGS: u32 = 3;

/// The devices of the namespaces in which packets of the followed processes are sent.
#[derive(Default)]
pub(crate) struct Witness {
    namespaces: BTreeMap<u32, Counters>,
}

/// The device counters of one namespace.
struct Counters {
    file: File,
    /// By how much each device was ahead of the programs when it was looked at first.
    ahead: BTreeMap<String, i64>,
}

impl Witness {
    /// Looks from now on at the namespaces of these processes too; one that has ended is passed over.
    pub(crate) fn watch(&mut self, processes: &[u32], program: &Program<'_>) -> Result<(), ObserverError> {
        for &process in processes {
            let Some((namespace, file)) = opened(process) else {
                continue;
            };
            if self.namespaces.contains_key(&namespace) {
                continue;
            }
            let ahead = BTreeMap::new();
            let mut counters = Counters { file, ahead };
            for _ in 0..READINGS {
                let handed = program.handed()?;
                for (name, now) in counters.ahead_of(&handed, namespace)? {
                    let ahead = counters.ahead.entry(name).or_insert(now);
                    *ahead = now.max(*ahead);
                }
            }
            self.namespaces.insert(namespace, counters);
        }
        Ok(())
    }

    /// How many packets devices have sent since then for which no program was run.
    pub(crate) fn missed(&mut self, program: &Program<'_>) -> Result<u64, ObserverError> {
        let mut least = u64::MAX;
        for _ in 0..READINGS {
            least = least.min(self.missed_now(program)?);
        }
        Ok(least)
    }

    fn missed_now(&mut self, program: &Program<'_>) -> Result<u64, ObserverError> {
        let mut sent = Vec::new();
        for (&namespace, counters) in &mut self.namespaces {
            sent.push((namespace, counters.sent()?));
        }
        let handed = program.handed()?;
        let missed = sent.into_iter().flat_map(|(namespace, devices)| {
            let ahead = &self.namespaces[&namespace].ahead;
            let handed = &handed;
            devices.into_iter().filter_map(move |(name, sent)| {
                let before = ahead.get(&name).copied().unwrap_or(0);
                let handed = handed.get(&(namespace, name))?;
                u64::try_from(sent - *handed - before).ok()
            })
        });
        Ok(missed.sum())
    }
}

impl Counters {
    fn ahead_of(&mut self, handed: &BTreeMap<Place, i64>, namespace: u32) -> Result<Vec<(String, i64)>, ObserverError> {
        let sent = self.sent()?.into_iter();
        Ok(sent
            .map(|(name, sent)| {
                let place = (namespace, name);
                let ahead = sent - handed.get(&place).copied().unwrap_or(0);
                (place.1, ahead)
            })
            .collect())
    }

    fn sent(&mut self) -> Result<Vec<(String, i64)>, ObserverError> {
        let mut text = String::new();
        let read = self.file.rewind().and_then(|()| self.file.read_to_string(&mut text));
        read.map_err(ObserverError::Counters)?;
        Ok(text.lines().filter_map(sent_by).collect())
    }
}

/// The namespace of a process and its device counters; none where the process is gone.
fn opened(process: u32) -> Option<(u32, File)> {
    let link = fs::read_link(format!("/proc/{process}/ns/net")).ok()?;
    let number = link.to_str()?.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()?;
    let file: io::Result<File> = File::open(format!("/proc/{process}/net/dev"));
    Some((number, file.ok()?))
}

/// `eth0: <received: bytes packets errs drop fifo frame compressed multicast> <sent: bytes packets errs drop …>`: what was
/// given to the device, sent or dropped by it.
fn sent_by(line: &str) -> Option<(String, i64)> {
    let (name, counts) = line.split_once(':')?;
    let counts: Vec<i64> = counts.split_whitespace().map_while(|word| word.parse().ok()).collect();
    Some((name.trim().to_owned(), counts.get(9)? + counts.get(11)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_device_says_what_it_was_given_to_send() {
        let line = "  eth0: 1000 10 0 0 0 0 0 0 2000 20 0 3 0 0 0 0";
        assert_eq!(sent_by(line), Some(("eth0".to_owned(), 23)));
    }

    #[test]
    fn a_heading_is_no_device() {
        assert_eq!(sent_by("Inter-|   Receive      |  Transmit"), None);
        assert_eq!(sent_by(" face |bytes: packets errs"), None);
    }

    #[test]
    fn a_process_that_is_gone_has_no_counters() {
        assert!(opened(u32::MAX).is_none());
    }
}
