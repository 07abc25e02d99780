//! Publishers' matches as a shim tells of them: by a callback, on a thread of the library.

use std::ffi::c_void;

use middlemark_runtime::Matched;

/// What a shim has of a writer's match: what it calls, with this very object, when a reader has matched the writer.
#[repr(C)]
struct Match {
    on_matched: unsafe extern "C" fn(own: *const Match),
    matched: Matched,
}

/// The matches of a session's writers; to be dropped when the shim has no writer left.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "the shim keeps their addresses")]
pub struct Matches(Vec<Box<Match>>);

impl Matches {
    /// Keeps one, and gives what the shim has of it.
    pub fn keep(&mut self, matched: Matched) -> *const c_void {
        self.0.push(Box::new(Match { on_matched, matched }));
        let kept: &Match = &self.0[self.0.len() - 1];
        std::ptr::from_ref(kept).cast()
    }
}

unsafe extern "C" fn on_matched(own: *const Match) {
    // SAFETY: the shim calls this with the object that it has it from, which lives as long as its writer.
    unsafe { (*own).matched.now() };
}
