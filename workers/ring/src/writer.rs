//! The writing side: claims a slot, lets it be filled in place, and shows it to all readers at once.
//!
//! While there is room a message costs the filling, one atomic exchange and no system call, unless a reader sleeps.

use std::fmt;
#[cfg(not(feature = "loom"))]
use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::layout::is_attached;
use crate::position::Count;
use crate::segment::Segment;
use crate::sync::atomic::Ordering;
#[cfg(not(feature = "loom"))]
use crate::{layout::Layout, presence::Participant};

/// A writer that waits for a reader looks so often whether that reader still lives.
const LIVENESS: Duration = Duration::from_millis(50);

/// What a writer does when its slowest reader is a whole ring behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits for that reader, as long as that lives, but no longer than this.
    Wait(Duration),
    /// It does not write.
    Refuse,
}

impl fmt::Display for WhenFull {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wait(patience) => write!(text, "when full a message waits for up to {patience:?}"),
            Self::Refuse => write!(text, "when full a message is refused"),
        }
    }
}

/// Why nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The slowest reader is a whole ring behind.
    Behind,
    /// The slowest reader was a whole ring behind for as long as the writer waits.
    TimedOut,
    /// No reader is attached.
    Nobody,
}

/// The one writer of a ring.
pub struct Writer {
    segment: Arc<Segment>,
    when_full: WhenFull,
    written: Count,
    /// So many slots are known to be free.
    room: u32,
    /// How many messages were refused; now and then, by this count, it is checked that the slowest reader still lives.
    refusals: u32,
}

impl Writer {
    /// Attaches to the ring of this name as its writer; goes on where an earlier one ended.
    ///
    /// # Errors
    /// What the kernel refused: the ring has a writer, or there is no room in `/dev/shm`.
    #[cfg(not(feature = "loom"))]
    pub fn attach(name: &str, layout: Layout, when_full: WhenFull) -> io::Result<Writer> {
        let segment = Segment::attach(name, layout, Participant::Writer)?;
        Ok(Writer::of(Arc::new(segment), when_full))
    }

    /// The writer of a segment that this process has entered as such.
    pub(crate) fn of(segment: Arc<Segment>, when_full: WhenFull) -> Writer {
        Writer {
            written: segment.head().written.get(),
            segment,
            when_full,
            room: 0,
            refusals: 0,
        }
    }

    /// The ring's memory, to be left when all is over.
    #[must_use]
    pub fn segment(&self) -> Arc<Segment> {
        self.segment.clone()
    }

    /// Waits for a slot as the ring's writer does, has it filled by `fill`, and shows it to the readers.
    ///
    /// # Errors
    /// There was no slot; `fill` was not called.
    #[inline]
    pub fn write(&mut self, fill: impl FnOnce(&mut [MaybeUninit<u8>])) -> Result<(), Full> {
        if self.room == 0 {
            self.find_room()?;
        } else if !self.has_readers() {
            return Err(Full::Nobody);
        }
        // SAFETY: it is free (`room`), so that no reader looks at it before `written` passes it, and there is no other
        // writer (its presence lock).
        unsafe { self.segment.fill(self.written, fill) };
        self.room -= 1;
        self.written = self.written.next();
        self.segment.head().written.set(self.written);
        Ok(())
    }

    /// Writes a message that lies elsewhere, of at most the ring's size.
    ///
    /// # Errors
    /// As [`Self::write`].
    #[inline]
    pub fn write_copy(&mut self, message: &[u8]) -> Result<(), Full> {
        // SAFETY: u8 and MaybeUninit<u8> have the same layout, and initialised bytes are valid MaybeUninit ones.
        let message = unsafe { std::slice::from_raw_parts(message.as_ptr().cast::<MaybeUninit<u8>>(), message.len()) };
        self.write(|slot| slot[..message.len()].copy_from_slice(message))
    }

    #[inline]
    fn has_readers(&self) -> bool {
        (0..self.segment.layout().readers()).any(|reader| is_attached(self.attachments(reader)))
    }

    #[inline]
    fn attachments(&self, reader: usize) -> u32 {
        self.segment.place(reader).attachments.load(Ordering::SeqCst)
    }

    #[cold]
    fn find_room(&mut self) -> Result<(), Full> {
        let mut gives_up = None;
        loop {
            let slowest = self.slowest().ok_or(Full::Nobody)?;
            // A place that says what no reader can have taken gives no room.
            let ahead = self.written.ahead_of(slowest.taken);
            self.room = self.segment.layout().slots().saturating_sub(ahead);
            if self.room > 0 {
                return Ok(());
            }
            match self.when_full {
                WhenFull::Wait(patience) => {
                    let gives_up = *gives_up.get_or_insert_with(|| Instant::now() + patience);
                    let left = gives_up.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(Full::TimedOut);
                    }
                    self.wait_for(slowest, left.min(LIVENESS));
                }
                WhenFull::Refuse => {
                    self.refuse_for(slowest);
                    return Err(Full::Behind);
                }
            }
        }
    }

    fn slowest(&self) -> Option<Follower> {
        (0..self.segment.layout().readers())
            .map(|reader| Follower {
                reader,
                attachments: self.attachments(reader),
                taken: self.segment.place(reader).taken.0.get(),
            })
            .filter(|follower| is_attached(follower.attachments))
            .max_by_key(|follower| self.written.ahead_of(follower.taken))
    }

    fn wait_for(&self, follower: Follower, timeout: Duration) {
        let taken = &self.segment.place(follower.reader).taken.0;
        let has_left = || self.attachments(follower.reader) != follower.attachments;
        taken.wait(follower.taken, Some(timeout), has_left);
        if taken.get() == follower.taken {
            self.detach_if_gone(follower);
        }
    }

    /// Checks only now and then that the reader still lives, as each check is a system call.
    fn refuse_for(&mut self, follower: Follower) {
        self.refusals = self.refusals.wrapping_add(1);
        if self.refusals % 1024 == 1 {
            self.detach_if_gone(follower);
        }
    }

    /// A reader whose process has ended holds no message back any more.
    fn detach_if_gone(&self, follower: Follower) {
        if !self.segment.is_there(follower.reader) {
            self.segment.place(follower.reader).detach(follower.attachments);
        }
    }
}

/// An attached reader as the writer found it.
#[derive(Debug, Clone, Copy)]
struct Follower {
    reader: usize,
    attachments: u32,
    taken: Count,
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::Reader;

    #[test]
    fn a_place_that_says_what_nobody_can_have_taken_gives_no_room() {
        let name = format!("middlemark-ring-place-{}", std::process::id());
        let layout = Layout::new(64, 1, 4);
        let mut writer = Writer::attach(&name, layout, WhenFull::Refuse).unwrap();
        let _reader = Reader::attach(&name, layout, 0).unwrap();
        writer.segment().place(0).taken.0.set(Count::at(1));
        assert_eq!(writer.write_copy(&[7; 64]), Err(Full::Behind));
    }

    const SLOTS: u32 = 4;

    #[derive(Debug, Clone)]
    enum Step {
        Write,
        Take,
        SetTaken(u32),
        SetWritten(u32),
        SetAttachments(u32),
    }

    fn step() -> impl Strategy<Value = Step> {
        let count = || prop_oneof![0..10u32, any::<u32>()];
        prop_oneof![
            4 => Just(Step::Write),
            2 => Just(Step::Take),
            1 => count().prop_map(Step::SetTaken),
            1 => count().prop_map(Step::SetWritten),
            1 => count().prop_map(Step::SetAttachments),
        ]
    }

    proptest! {
        #[test]
        fn whatever_another_process_leaves_in_the_header_a_writer_stays_within_a_ring(steps in vec(step(), 0..60)) {
            let name = format!("middlemark-ring-hostile-{}", std::process::id());
            let layout = Layout::new(64, 1, SLOTS as usize);
            let mut writer = Writer::attach(&name, layout, WhenFull::Refuse).unwrap();
            let mut reader = Reader::attach(&name, layout, 0).unwrap();
            let segment = writer.segment();
            let mut ahead = 0;
            for step in steps {
                match step {
                    Step::Write => match writer.write(|slot| slot.fill(MaybeUninit::new(7))) {
                        Ok(()) => ahead += 1,
                        Err(Full::Behind | Full::Nobody) => ahead = 0,
                        Err(Full::TimedOut) => prop_assert!(false, "it was to refuse"),
                    },
                    Step::Take => {
                        reader.take(|message| assert_eq!(message.len(), 64));
                        ahead = 0;
                    }
                    Step::SetTaken(count) => {
                        segment.place(0).taken.0.set(Count::at(count));
                        ahead = 0;
                    }
                    Step::SetWritten(count) => segment.head().written.set(Count::at(count)),
                    Step::SetAttachments(count) => segment.place(0).attachments.store(count, Ordering::SeqCst),
                }
                prop_assert!(ahead <= 2 * SLOTS, "{ahead} without a look at who reads");
                prop_assert!(writer.room <= SLOTS);
            }
        }
    }
}
