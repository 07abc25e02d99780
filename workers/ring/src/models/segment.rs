//! A segment in the memory of one process, whose slots are cells that loom watches: who looks into one while another fills
//! it is reported. It stands in for `crate::segment` in models, with the same interface.

use std::mem::MaybeUninit;

use loom::cell::UnsafeCell;

use crate::layout::{Head, Layout, Place};
use crate::position::Count;

/// A ring for messages of one byte, which all participants share as it is.
pub struct Segment {
    layout: Layout,
    head: Head,
    places: Vec<Place>,
    slots: Vec<UnsafeCell<u8>>,
}

// SAFETY: everything shared is atomic or in a cell, and loom reports two who use a cell at once.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    pub(crate) fn new(layout: Layout) -> Segment {
        assert_eq!(layout.message_bytes(), 1);
        Segment {
            layout,
            head: Head::default(),
            places: (0..layout.readers()).map(|_| Place::default()).collect(),
            slots: (0..layout.slots()).map(|_| UnsafeCell::new(0)).collect(),
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    pub(crate) fn place(&self, reader: usize) -> &Place {
        &self.places[reader]
    }

    /// No process ends in a model.
    pub(crate) fn is_there(&self, _reader: usize) -> bool {
        true
    }

    pub(crate) unsafe fn fill(&self, count: Count, fill: impl FnOnce(&mut [MaybeUninit<u8>])) {
        let slot = &self.slots[count.modulo(self.layout.slots())];
        // SAFETY: loom has checked that nobody else uses the cell, which is one byte.
        slot.with_mut(|byte| fill(unsafe { std::slice::from_raw_parts_mut(byte.cast(), 1) }));
    }

    pub(crate) unsafe fn see(&self, count: Count, see: impl FnOnce(&[u8])) {
        let slot = &self.slots[count.modulo(self.layout.slots())];
        // SAFETY: loom has checked that nobody changes the cell, which is one byte.
        slot.with(|byte| see(unsafe { std::slice::from_raw_parts(byte, 1) }));
    }
}
