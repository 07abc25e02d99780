//! The two ways to hand a message to Zenoh without a copy of ours: memory moved to it, or shared memory loaned from it.
//!
//! It knows one publisher of Zenoh's each, and what a channel's QoS is for it; `session` decides which way a channel goes.

pub(crate) mod loans;

use std::mem::MaybeUninit;
use std::sync::Arc;

use middlemark_contract::{Congestion, Qos, Reliability};
use middlemark_runtime::{Channel, PublishError, PublishInPlace, PublishMoved, clock};
use zenoh::pubsub::Publisher;
use zenoh::shm::{Defragment, GarbageCollect, PosixShmProviderBackend, ShmProvider, ZShmMut};
use zenoh::{Wait, qos};

/// How often it looks for room, as Zenoh's own blocking policy (`BlockOn`) does: the pool can't be waited for.
const LOAN_RETRY_NS: i64 = 1_000_000;

pub(crate) fn congestion(channel: &Channel) -> qos::CongestionControl {
    match channel.qos.congestion {
        Congestion::Block => qos::CongestionControl::Block,
        Congestion::Drop => qos::CongestionControl::Drop,
    }
}

pub(crate) fn reliability(channel: &Channel) -> qos::Reliability {
    match channel.qos.reliability {
        Reliability::Reliable => qos::Reliability::Reliable,
        Reliability::BestEffort => qos::Reliability::BestEffort,
    }
}

/// Moves the application's memory to Zenoh.
pub(crate) struct Moving(pub(crate) Publisher<'static>);

impl PublishMoved for Moving {
    fn publish_moved(&mut self, message: Vec<u8>) -> Result<(), PublishError> {
        put(&self.0, message)
    }
}

/// Shared memory that messages are loaned from. It must outlive the last message under way, which is void without it.
pub(crate) type Pool = ShmProvider<PosixShmProviderBackend>;

/// Writes into shared memory of a pool of its own and hands that over.
pub(crate) struct Loaning {
    publisher: Publisher<'static>,
    pool: Arc<Pool>,
    /// How long the publish call waits for room in the pool; none: not at all.
    patience_ns: Option<i64>,
}

impl Loaning {
    pub(crate) fn new(publisher: Publisher<'static>, pool: Arc<Pool>, qos: &Qos) -> Loaning {
        Loaning {
            publisher,
            pool,
            patience_ns: qos.blocks().then_some(qos.patience_ns as i64),
        }
    }

    fn loan(&self, size_bytes: usize) -> Result<ZShmMut, PublishError> {
        let patient_until_ns = self.patience_ns.map(|patience_ns| clock::now_ns() + patience_ns);
        loop {
            let loan = self
                .pool
                .alloc(size_bytes)
                .with_policy::<Defragment<GarbageCollect>>()
                .wait();
            match (loan, patient_until_ns) {
                (Ok(loan), _) => return Ok(loan),
                (Err(_), None) => return Err(PublishError::Full),
                (Err(_), Some(until_ns)) if clock::now_ns() >= until_ns => return Err(PublishError::TimedOut),
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
