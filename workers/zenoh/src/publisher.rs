//! The two ways to hand a message to Zenoh without a copy of ours: memory moved to it, or shared memory loaned from it.
//!
//! It knows one publisher of Zenoh's each; `session` decides which way a channel goes.

use std::mem::MaybeUninit;
use std::sync::Arc;

use middlemark_contract::Congestion;
use middlemark_runtime::{PublishError, PublishInPlace, clock};
use zenoh::Wait;
use zenoh::pubsub::Publisher;
use zenoh::shm::{Defragment, GarbageCollect, PosixShmProviderBackend, ShmProvider, ZShmMut};

/// How long a blocking publisher waits for room in its pool before the message counts as timed out.
const LOAN_PATIENCE_NS: i64 = 1_000_000_000;

/// How often it looks for room, as Zenoh's own blocking policy (`BlockOn`) does: the pool can't be waited for.
const LOAN_RETRY_NS: i64 = 1_000_000;

/// Writes into fresh memory and moves it to Zenoh.
pub(crate) struct Moving(pub(crate) Publisher<'static>);

impl PublishInPlace for Moving {
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        let mut message = Vec::with_capacity(size_bytes);
        write(&mut message.spare_capacity_mut()[..size_bytes]);
        // SAFETY: the capacity is at least `size_bytes`, and `write` has initialised that many bytes.
        unsafe { message.set_len(size_bytes) };
        put(&self.0, message)
    }
}

/// Shared memory that messages are loaned from. It must outlive the last message under way, which is void without it.
pub(crate) type Pool = ShmProvider<PosixShmProviderBackend>;

/// Writes into shared memory of a pool of its own and hands that over.
pub(crate) struct Loaning {
    publisher: Publisher<'static>,
    pool: Arc<Pool>,
    congestion: Congestion,
}

impl Loaning {
    pub(crate) fn new(publisher: Publisher<'static>, pool: Arc<Pool>, congestion: Congestion) -> Loaning {
        Loaning {
            publisher,
            pool,
            congestion,
        }
    }

    fn loan(&self, size_bytes: usize) -> Result<ZShmMut, PublishError> {
        let patient_until_ns = match self.congestion {
            Congestion::Block => clock::now_ns() + LOAN_PATIENCE_NS,
            Congestion::Drop => 0,
        };
        loop {
            let loan = self
                .pool
                .alloc(size_bytes)
                .with_policy::<Defragment<GarbageCollect>>()
                .wait();
            match (loan, patient_until_ns) {
                (Ok(loan), _) => return Ok(loan),
                (Err(_), 0) => return Err(PublishError::Full),
                (Err(_), until_ns) if clock::now_ns() >= until_ns => return Err(PublishError::TimedOut),
                (Err(_), _) => clock::sleep_until(clock::now_ns() + LOAN_RETRY_NS),
            }
        }
    }
}

impl PublishInPlace for Loaning {
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        let mut loan = self.loan(size_bytes)?;
        let bytes: &mut [u8] = &mut loan;
        // SAFETY: u8 and MaybeUninit<u8> have the same layout, and `write` leaves every byte initialised.
        let bytes = unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) };
        write(bytes);
        put(&self.publisher, loan)
    }
}

#[inline]
fn put(publisher: &Publisher<'static>, message: impl Into<zenoh::bytes::ZBytes>) -> Result<(), PublishError> {
    // Zenoh's errors carry no number; put fails only where the session is closed.
    publisher.put(message).wait().map_err(|_| PublishError::NotConnected)
}
