//! The reading side: sees each message in place, in order, and gives its slot back.
//!
//! Looking costs one load while nothing has come; sleeping is a choice of the caller ([`Reader::wait`]).

#[cfg(not(feature = "loom"))]
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::position::Count;
use crate::segment::Segment;
use crate::sync::atomic::{AtomicBool, Ordering};
#[cfg(not(feature = "loom"))]
use crate::{layout::Layout, presence::Participant};

/// One reader of a ring.
pub struct Reader {
    segment: Arc<Segment>,
    index: usize,
    taken: Count,
    stopping: Arc<AtomicBool>,
}

/// Ends a reader's waiting from another thread.
pub struct Waker {
    segment: Arc<Segment>,
    stopping: Arc<AtomicBool>,
}

impl Reader {
    /// Attaches to the ring of this name as its reader `index`; sees what is written from now on.
    ///
    /// # Errors
    /// What the kernel refused: the ring has such a reader, or there is no room in `/dev/shm`.
    #[cfg(not(feature = "loom"))]
    pub fn attach(name: &str, layout: Layout, index: usize) -> io::Result<Reader> {
        let segment = Segment::attach(name, layout, Participant::Reader(index))?;
        Ok(Reader::of(Arc::new(segment), index))
    }

    /// The reader `index` of a segment that this process has entered as such.
    pub(crate) fn of(segment: Arc<Segment>, index: usize) -> Reader {
        let place = segment.place(index);
        // A reader that was killed may have left itself attached; until this one is, the writer owes it nothing.
        let attachments = place.attachments.load(Ordering::SeqCst);
        let absent = attachments.wrapping_add(attachments % 2);
        place.attachments.store(absent, Ordering::SeqCst);
        place.taken.0.set(segment.head().written.get());
        place.attachments.store(absent.wrapping_add(1), Ordering::SeqCst);
        // A writer that did not see that in time may go on for one ring from where it looked, and it looked before this
        // load of `written` (all SeqCst), so that it stays within one ring of what is read from here.
        let taken = segment.head().written.get();
        place.taken.0.set(taken);
        Reader {
            segment,
            index,
            taken,
            stopping: Arc::new(AtomicBool::new(false)),
        }
    }

    /// The ring's memory, to be left when all is over.
    #[must_use]
    pub fn segment(&self) -> Arc<Segment> {
        self.segment.clone()
    }

    /// What ends this reader's waiting.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker {
            segment: self.segment.clone(),
            stopping: self.stopping.clone(),
        }
    }

    /// Hands the next message to `see`, in place, and gives its slot back after; false where none has come.
    #[inline]
    pub fn take(&mut self, see: impl FnOnce(&[u8])) -> bool {
        if self.segment.head().written.get() == self.taken {
            return false;
        }
        // SAFETY: it was written before `written` passed it, and the writer leaves it alone until `taken` has passed it too.
        unsafe { self.segment.see(self.taken, see) };
        self.taken = self.taken.next();
        self.segment.place(self.index).taken.0.set(self.taken);
        true
    }

    /// Sleeps until a message has come, [`Waker::stop`] is called, or the timeout is over; may return for no reason.
    pub fn wait(&self, timeout: Option<Duration>) {
        let written = &self.segment.head().written;
        written.wait(self.taken, timeout, || self.is_stopping());
    }

    /// Whether [`Waker::stop`] was called.
    #[inline]
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }
}

impl Waker {
    /// Ends all waiting, now and later.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.segment.head().written.nudge();
    }
}
