//! Publishing into a ring: in place, or copied from the application's buffer.

use std::mem::MaybeUninit;
use std::time::Duration;

use middlemark_contract::{Congestion, Qos};
use middlemark_ring::{Full, WhenFull, Writer};
use middlemark_runtime::{Matched, Publish, PublishError, PublishInPlace};

/// A publisher with its ring.
pub(crate) struct RingPublisher {
    pub(crate) writer: Writer,
    pub(crate) matched: Matched,
}

pub(crate) fn when_full(qos: &Qos) -> WhenFull {
    match qos.congestion {
        Congestion::Block => WhenFull::Wait(Duration::from_nanos(qos.patience_ns)),
        Congestion::Drop => WhenFull::Refuse,
    }
}

impl PublishInPlace for RingPublisher {
    #[inline]
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        let written = || self.writer.write(|slot| write(&mut slot[..size_bytes]));
        self.matched.by(written, Result::is_ok).map_err(refusal)
    }
}

impl Publish for RingPublisher {
    #[inline]
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let written = || self.writer.write_copy(message);
        self.matched.by(written, Result::is_ok).map_err(refusal)
    }
}

#[cold]
fn refusal(full: Full) -> PublishError {
    match full {
        Full::Behind => PublishError::Full,
        Full::TimedOut => PublishError::TimedOut,
        Full::Nobody => PublishError::NotConnected,
    }
}
