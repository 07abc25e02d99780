//! What shows which paths an application's messages take: what it has mapped and connected, and what interfaces count.
//!
//! It reads the kernel before the window, never within it; what the readings prove is the front's to judge. What the process
//! spends is `usage`'s.

mod segments;
mod sockets;

use middlemark_contract::{InterfaceTraffic, MappedSegment, PathProof, SocketUse};
use procfs::ProcResult;

/// What an application had when all had heard each other.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    segments: Option<Vec<MappedSegment>>,
    sockets: Option<Vec<SocketUse>>,
    /// What could not be looked at, with the reason.
    unseen: Vec<String>,
}

impl Snapshot {
    /// Looks now; messages with this token are looked for in shared memory until an instant.
    pub(crate) fn taken(token: u32, until_ns: i64) -> Snapshot {
        let mut unseen = Vec::new();
        let sockets = read("sockets", sockets::open(), &mut unseen);
        let segments = read("segments", segments::mapped(token, until_ns), &mut unseen);
        let is_unread = |segment: &MappedSegment| segment.messages.is_none();
        if segments.iter().flatten().any(is_unread) {
            unseen.push("messages in segments: the kernel or the time did not let it look through all of them".into());
        }
        Snapshot {
            segments,
            sockets,
            unseen,
        }
    }

    /// What is known of an application that could not look in time.
    pub(crate) fn missed() -> Snapshot {
        Snapshot {
            unseen: vec!["segments and sockets: it learned of the window too late".into()],
            ..Snapshot::default()
        }
    }

    /// The proof, with what interfaces counted over the window, where that could be read.
    pub(crate) fn proof(mut self, interfaces: Option<Vec<InterfaceTraffic>>) -> PathProof {
        if interfaces.is_none() {
            self.unseen.push("interfaces: their counters can't be read".into());
        }
        PathProof {
            interfaces,
            shared_memory: None,
            segments: self.segments,
            sockets: self.sockets,
            unseen: self.unseen,
        }
    }
}

fn read<T>(what: &str, found: ProcResult<T>, unseen: &mut Vec<String>) -> Option<T> {
    found.inspect_err(|error| unseen.push(format!("{what}: {error}"))).ok()
}

#[cfg(test)]
mod tests {
    use procfs::ProcError;

    use super::*;

    #[test]
    fn what_could_not_be_looked_at_is_told_with_the_reason_and_nothing_is_said_of_it() {
        let mut unseen = Vec::new();
        let refused: ProcResult<Vec<SocketUse>> = Err(ProcError::PermissionDenied(Some("/proc/self/fd".into())));
        assert_eq!(read("sockets", refused, &mut unseen), None);
        assert_eq!(unseen, ["sockets: Permission Denied: /proc/self/fd"]);
        let proof = Snapshot::missed().proof(None);
        assert_eq!((proof.interfaces, proof.segments, proof.sockets), (None, None, None));
        assert_eq!(proof.unseen.len(), 2);
    }
}
