//! Whom an endpoint has met: publishers' matches as a shim tells of them, by a callback on a thread of the library, and what
//! an endpoint knows where it heard nothing.

use std::ffi::c_void;
use std::sync::Arc;

use middlemark_contract::Role;
use middlemark_runtime::{Matched, clock};

/// Tells how long the longest handshake of a session's participant took; none where none is over.
type Handshake = Arc<dyn Fn() -> Option<i64> + Send + Sync>;

/// What a shim has of a writer's match: what it calls, with this very object, when a reader has matched the writer.
#[repr(C)]
struct Match {
    on_matched: unsafe extern "C" fn(own: *const Match),
    matched: Matched,
    handshake_ns: Option<Handshake>,
}

/// The matches of a session's writers; to be dropped when the shim has no writer left.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "the shim keeps their addresses")]
pub struct Matches {
    kept: Vec<Box<Match>>,
    handshake_ns: Option<Handshake>,
}

impl Matches {
    /// Those of a session whose library tells how long its participant's longest handshake took.
    #[must_use]
    pub fn after_handshakes(longest_ns: impl Fn() -> Option<i64> + Send + Sync + 'static) -> Matches {
        Matches {
            kept: Vec::new(),
            handshake_ns: Some(Arc::new(longest_ns)),
        }
    }

    /// Keeps one, and gives what the shim has of it.
    pub fn keep(&mut self, matched: Matched) -> *const c_void {
        self.kept.push(Box::new(Match {
            on_matched,
            matched,
            handshake_ns: self.handshake_ns.clone(),
        }));
        let kept: &Match = &self.kept[self.kept.len() - 1];
        std::ptr::from_ref(kept).cast()
    }
}

unsafe extern "C" fn on_matched(own: *const Match) {
    // SAFETY: the shim calls this with the object that it has it from, which lives as long as its writer.
    let own = unsafe { &*own };
    match own.handshake_ns.as_ref().and_then(|longest_ns| longest_ns()) {
        Some(took_ns) => own.matched.now_after_handshake(clock::now_ns() - took_ns),
        None => own.matched.now(),
    }
}

/// `mm_counterparts`: how many an endpoint has ever met.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counterparts {
    /// With which it was matched.
    pub matched: i32,
    /// Of its topic and type, but with policies that it can't do with.
    pub incompatible: i32,
    /// The id of the policy that the last of those was refused for.
    pub policy: i32,
}

impl Counterparts {
    /// A sentence: `the writer of t (middlemark::Sequence64) met no reader of this topic and type`.
    #[must_use]
    pub fn words(&self, role: Role, topic: &str, message_type: &str) -> String {
        let (own, other) = match role {
            Role::Publisher => ("writer", "reader"),
            Role::Subscriber => ("reader", "writer"),
        };
        let met = match (self.matched, self.incompatible) {
            (1.., _) => format!("was matched with {}", counted(self.matched, other)),
            (_, 1..) => format!(
                "refused {} for the policy {}",
                counted(self.incompatible, other),
                policy(self.policy)
            ),
            _ => format!("met no {other} of this topic and type"),
        };
        format!("the {own} of {topic} ({message_type}) {met}")
    }
}

/// `1 reader`, `2 readers`.
fn counted(count: i32, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A policy by the standard's name, where it is one that can keep endpoints apart (DDS 1.4, `QosPolicyId_t`; `XTypes` 1.3).
fn policy(id: i32) -> String {
    match id {
        2 => "DURABILITY",
        3 => "PRESENTATION",
        4 => "DEADLINE",
        5 => "LATENCY_BUDGET",
        6 => "OWNERSHIP",
        8 => "LIVELINESS",
        10 => "PARTITION",
        11 => "RELIABILITY",
        12 => "DESTINATION_ORDER",
        23 => "DATA_REPRESENTATION",
        24 => "TYPE_CONSISTENCY_ENFORCEMENT",
        _ => return format!("number {id}"),
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_says_whom_it_met_whom_it_refused_or_that_there_was_nobody() {
        let words = |matched, incompatible| {
            let counterparts = Counterparts {
                matched,
                incompatible,
                policy: 11,
            };
            counterparts.words(Role::Subscriber, "t", "T8")
        };
        assert_eq!(
            [words(0, 0), words(0, 2), words(1, 2)],
            [
                "the reader of t (T8) met no writer of this topic and type",
                "the reader of t (T8) refused 2 writers for the policy RELIABILITY",
                "the reader of t (T8) was matched with 1 writer",
            ]
        );
    }
}
