//! Where everything lies in a segment: the writer's line, a line for each reader, then the slots.
//!
//! Pure arithmetic and two plain structures; all zero bytes are a ring in which nothing was written yet.

use crate::Position;
use crate::sync::atomic::{AtomicU32, Ordering};

/// Two cache lines, which processors fetch together: what one process writes shares none with what another writes.
const LINE_BYTES: usize = 128;
const PAGE_BYTES: usize = 4096;

/// The most slots of a ring: far from the 2^31 at which counts begin again.
const MOST_SLOTS: u32 = 1 << 20;

/// The writer's part.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) written: Position,
}

/// A reader's part; `attachments` has a line of its own, as the writer reads it for each message.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(crate) struct Place {
    /// One up for each attachment and each detachment: odd while a reader is attached.
    pub(crate) attachments: AtomicU32,
    pub(crate) taken: OwnLine<Position>,
}

impl Place {
    /// Detaches its reader, so that the writer waits for it no more, unless it has attached anew since; wakes the writer.
    pub(crate) fn detach(&self, attachments: u32) {
        if is_attached(attachments) {
            let next = attachments.wrapping_add(1);
            let _ = self
                .attachments
                .compare_exchange(attachments, next, Ordering::SeqCst, Ordering::SeqCst);
        }
        self.taken.0.nudge();
    }
}

/// Whether a place with this count of attachments has a reader now.
#[inline]
pub(crate) fn is_attached(attachments: u32) -> bool {
    attachments % 2 == 1
}

/// Puts a field on a line of its own.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(crate) struct OwnLine<T>(pub(crate) T);

/// The size and shape of a segment; the same for all who attach to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    message_bytes: usize,
    readers: usize,
    slots: u32,
}

impl Layout {
    /// A ring that holds at most `messages` of `message_bytes` for its slowest reader, and two at least.
    #[must_use]
    pub fn new(message_bytes: usize, readers: usize, messages: usize) -> Layout {
        // Two at least, so that one can be written while the other is read; a power of two, so that counts may wrap.
        let most = messages.clamp(2, MOST_SLOTS as usize) as u32;
        Layout {
            message_bytes,
            readers,
            slots: 1 << most.ilog2(),
        }
    }

    /// The size of each message.
    #[must_use]
    pub fn message_bytes(self) -> usize {
        self.message_bytes
    }

    /// How many messages the ring holds.
    #[must_use]
    pub fn slots(self) -> u32 {
        self.slots
    }

    /// The size of the whole segment.
    #[must_use]
    pub fn total_bytes(self) -> usize {
        self.slot_offset(0) + self.slots as usize * stride_bytes(self.message_bytes)
    }

    pub(crate) fn readers(self) -> usize {
        self.readers
    }

    #[inline]
    pub(crate) fn slot_offset(self, slot: usize) -> usize {
        place_offset(self.readers).next_multiple_of(PAGE_BYTES) + slot * stride_bytes(self.message_bytes)
    }
}

/// Where a reader's place lies.
#[inline]
pub(crate) fn place_offset(reader: usize) -> usize {
    size_of::<Head>() + reader * size_of::<Place>()
}

#[inline]
fn stride_bytes(message_bytes: usize) -> usize {
    message_bytes.next_multiple_of(LINE_BYTES)
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_every_part_has_its_own_lines() {
        let layout = Layout::new(1000, 3, 5);
        assert_eq!(layout.slots(), 4);
        assert_eq!(size_of::<Head>(), LINE_BYTES);
        assert_eq!(size_of::<Place>(), 2 * LINE_BYTES);
        assert_eq!(std::mem::offset_of!(Place, taken), LINE_BYTES);
        assert!(layout.slot_offset(0) >= place_offset(3));
        assert_eq!(layout.slot_offset(1) - layout.slot_offset(0), 1024);
        assert_eq!(layout.total_bytes(), layout.slot_offset(4));
    }

    #[test]
    fn a_ring_holds_no_more_than_it_was_given_but_two() {
        let slots = [0, 1, 2, 63, 64, usize::MAX].map(|messages| Layout::new(64, 1, messages).slots());
        assert_eq!(slots, [2, 2, 2, 32, 64, MOST_SLOTS]);
    }
}
