//! Memory for messages, its pages there before it is written: lent by a middleware, or to be given away.
//!
//! A page fault is what getting memory takes, not what filling a message does; `stamping_publisher` tells both apart.

use std::collections::HashMap;
use std::mem::MaybeUninit;

/// The smallest page that Linux has.
const PAGE_BYTES: usize = 4096;

/// What a middleware has lent so far: how many bytes of which address.
pub(crate) struct LentMemory(HashMap<usize, usize>);

impl LentMemory {
    pub(crate) fn new() -> LentMemory {
        // As many as a queue has places, so that nothing is allocated while messages are sent.
        LentMemory(HashMap::with_capacity(4096))
    }

    /// Touches the pages that have not been lent before; to touch all of them each time would be charged to a middleware
    /// whose pages are long there.
    #[inline]
    pub(crate) fn touch_new(&mut self, memory: &mut [MaybeUninit<u8>]) {
        if memory.len() <= PAGE_BYTES {
            return touch(memory); // less than it takes to look it up
        }
        let lent_bytes = self.0.entry(memory.as_ptr().addr()).or_insert(0);
        if *lent_bytes < memory.len() {
            touch(&mut memory[*lent_bytes..]);
            *lent_bytes = memory.len();
        }
    }
}

/// Memory to be given away, with all its pages there.
#[inline]
pub(crate) fn fresh(size_bytes: usize) -> Vec<u8> {
    let mut memory: Vec<u8> = Vec::with_capacity(size_bytes);
    touch(&mut memory.spare_capacity_mut()[..size_bytes]);
    memory
}

/// Writes into every page, so that none of their faults is taken for filling.
#[inline]
fn touch(memory: &mut [MaybeUninit<u8>]) {
    for page in memory.chunks_mut(PAGE_BYTES) {
        for place in [0, page.len() - 1] {
            // SAFETY: the place is within the page; volatile, as the compiler sees that it is written again.
            unsafe { page[place].as_mut_ptr().write_volatile(0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory of the kernel's without any page yet.
    struct Mapping(&'static mut [MaybeUninit<u8>]);

    impl Mapping {
        fn new(pages: usize) -> Mapping {
            let (bytes, access) = (pages * PAGE_BYTES, libc::PROT_READ | libc::PROT_WRITE);
            let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            // SAFETY: a new mapping that nothing else is part of, unmapped by this type alone.
            unsafe {
                let begin = libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0);
                assert_ne!(begin, libc::MAP_FAILED);
                Mapping(std::slice::from_raw_parts_mut(begin.cast(), bytes))
            }
        }

        fn resident_pages(&self) -> usize {
            let mut pages = vec![0; self.0.len() / PAGE_BYTES];
            let begin = self.0.as_ptr().cast_mut().cast();
            // SAFETY: the range is mapped, and there is a byte for each of its pages.
            assert_eq!(unsafe { libc::mincore(begin, self.0.len(), pages.as_mut_ptr()) }, 0);
            pages.iter().filter(|page| **page & 1 == 1).count()
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: it was mapped by this type, which is gone.
            unsafe { libc::munmap(self.0.as_mut_ptr().cast(), self.0.len()) };
        }
    }

    #[test]
    fn pages_are_there_before_a_loan_is_filled() {
        let (mut lent, mapping) = (LentMemory::new(), Mapping::new(8));
        for pages in [1, 3, 2, 8] {
            let before = mapping.resident_pages();
            lent.touch_new(&mut mapping.0[..pages * PAGE_BYTES]);
            assert_eq!(mapping.resident_pages(), before.max(pages));
        }
    }

    #[test]
    fn a_loan_that_was_there_before_is_not_touched_again() {
        let (mut lent, mapping) = (LentMemory::new(), Mapping::new(4));
        for expected in [0, 7] {
            lent.touch_new(mapping.0);
            // SAFETY: the page was touched.
            assert_eq!(unsafe { mapping.0[PAGE_BYTES].assume_init() }, expected);
            mapping.0[PAGE_BYTES].write(7);
        }
    }
}
