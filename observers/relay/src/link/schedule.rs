//! Which frame is due next; of those due at one instant, the first that came.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::link::pool::Slot;

/// The frames under way, by due instant. Its room is reserved once.
pub(crate) struct Schedule {
    due: BinaryHeap<Reverse<(i64, u64, Slot)>>,
    entered: u64,
}

impl Schedule {
    pub(crate) fn new(frames: usize) -> Self {
        Self {
            due: BinaryHeap::with_capacity(frames),
            entered: 0,
        }
    }

    pub(crate) fn enter(&mut self, due_ns: i64, slot: Slot) {
        self.due.push(Reverse((due_ns, self.entered, slot)));
        self.entered += 1;
    }

    pub(crate) fn next_ns(&self) -> Option<i64> {
        self.due.peek().map(|Reverse((due_ns, ..))| *due_ns)
    }

    /// Takes the next frame when it is due.
    pub(crate) fn take(&mut self, now_ns: i64) -> Option<(i64, Slot)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.due.pop().map(|Reverse((due_ns, _, slot))| (due_ns, slot))
    }

    pub(crate) fn len(&self) -> usize {
        self.due.len()
    }
}
