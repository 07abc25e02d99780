//! Publishing into a ring: in place, or copied from the application's buffer.

use std::mem::MaybeUninit;
use std::time::Duration;

use middlemark_contract::{Congestion, Qos};
use middlemark_ring::{Full, WhenFull, Writer};
use middlemark_runtime::{Publish, PublishError, PublishInPlace};

/// A publisher with its ring.
pub(crate) struct RingPublisher(pub(crate) Writer);

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
        self.0.write(|slot| write(&mut slot[..size_bytes])).map_err(refusal)
    }
}

impl Publish for RingPublisher {
    #[inline]
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        self.0.write_copy(message).map_err(refusal)
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
