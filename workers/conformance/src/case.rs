//! What a check is given, and what it answers: a worker in one of its variants, and how the check ended.
//!
//! It demands nothing; `checks` does.

use std::sync::Arc;

use crate::worker::{Variant, Worker};

/// A worker and the variant of it that is checked.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) worker: Arc<Worker>,
    pub(crate) variant: Variant,
    /// Whether only best effort is asked for, as the variant's transport gives no more.
    pub(crate) best_effort: bool,
    /// Whether the last messages alone are kept, and no publisher waits, as an answer from the delivery's thread must not.
    pub(crate) overwriting: bool,
}

impl Case {
    /// A size that the worker describes as possible: this one, or its largest.
    pub(crate) fn fitting(&self, size_bytes: u64) -> u64 {
        size_bytes.min(self.worker.description.capabilities.largest_message_bytes)
    }
}

/// How a check ended that did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Passed,
    /// Not made: what the worker says it lacks.
    Lacks(String),
}
