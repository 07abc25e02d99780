//! Room for the frames that are under way, reserved once so that no frame costs an allocation.
//!
//! It holds bytes only; `schedule` says when they are due.

/// A place in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(u32);

/// Equal places for frames. The freed place is used next, so only as much memory is touched as was ever needed.
pub(crate) struct Pool {
    bytes: Vec<u8>,
    lengths: Vec<u32>,
    free: Vec<Slot>,
    slot_bytes: usize,
}

impl Pool {
    pub(crate) fn new(slots: usize, slot_bytes: usize) -> Self {
        Self {
            bytes: vec![0; slots * slot_bytes],
            lengths: vec![0; slots],
            free: (0..slots as u32).rev().map(Slot).collect(),
            slot_bytes,
        }
    }

    /// Copies a frame in; none when all places are taken.
    pub(crate) fn put(&mut self, frame: &[u8]) -> Option<Slot> {
        debug_assert!(frame.len() <= self.slot_bytes);
        let slot = self.free.pop()?;
        let begin = slot.0 as usize * self.slot_bytes;
        self.bytes[begin..begin + frame.len()].copy_from_slice(frame);
        self.lengths[slot.0 as usize] = frame.len() as u32;
        Some(slot)
    }

    /// The frame in a place.
    pub(crate) fn frame(&self, slot: Slot) -> &[u8] {
        let begin = slot.0 as usize * self.slot_bytes;
        &self.bytes[begin..begin + self.lengths[slot.0 as usize] as usize]
    }

    /// Gives a place back.
    pub(crate) fn release(&mut self, slot: Slot) {
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_pool_takes_no_more_until_a_place_is_given_back() {
        let mut pool = Pool::new(2, 8);
        let first = pool.put(b"one").unwrap();
        let second = pool.put(b"two").unwrap();
        assert_eq!(pool.put(b"three"), None);
        pool.release(first);
        let third = pool.put(b"three").unwrap();
        assert_eq!((pool.frame(second), pool.frame(third)), (&b"two"[..], &b"three"[..]));
    }
}
