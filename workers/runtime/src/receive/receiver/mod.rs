//! The receiver: where a middleware hands over the messages of one subscriber, and a server its requests.
//!
//! It stamps first, without a lock, an allocation or a system call of its own before that, and knows no middleware; what
//! then becomes of a message is in `state`.

pub(crate) mod state;

use std::sync::Arc;
use std::sync::atomic::{Ordering::Acquire, fence};

use crate::clock;
use crate::message::header::HEADER_BYTES;
use crate::receive::receiver::state::ReceiverState;
use crate::send::publish::PublisherMut;

/// Where a middleware hands over messages. Cheap to clone; any thread may call it, several at once too.
#[derive(Clone)]
pub struct Receiver(Arc<ReceiverState>);

impl Receiver {
    pub(crate) fn new(state: Arc<ReceiverState>) -> Receiver {
        Receiver(state)
    }

    /// Takes a message that lies in one piece. Call it at once when the middleware hands the message over.
    #[inline]
    pub fn receive(&self, message: &[u8]) {
        let received_ns = clock::now_ns();
        self.0.take(received_ns, std::iter::once(message), always);
    }

    /// Takes a message that its publisher may write over while it is read: what was read counts only if `is_valid` says,
    /// once it has been read, that nobody had by then. Where it doesn't, the message is lost, as it is for any application.
    #[inline]
    pub fn receive_lent(&self, message: &[u8], is_valid: impl Fn() -> bool) {
        let received_ns = clock::now_ns();
        let (header, body) = message.split_at(message.len().min(HEADER_BYTES));
        let mut read = [0; HEADER_BYTES];
        for (place, byte) in read.iter_mut().zip(header) {
            // SAFETY: a reference can be read. Volatile, so that the header is read here, once, and not again later.
            *place = unsafe { std::ptr::from_ref(byte).read_volatile() };
        }
        let pieces = [&read[..header.len()], body];
        self.0.take(received_ns, pieces.into_iter(), || {
            fence(Acquire); // What was read before is not read after.
            is_valid()
        });
    }

    /// Takes the message that a slot of the channel's largest size begins with.
    #[inline]
    pub fn receive_slot(&self, slot: &[u8]) {
        let received_ns = clock::now_ns();
        let length = self.0.channel.bytes_of(slot).unwrap_or(slot.len()).min(slot.len());
        self.0.take(received_ns, std::iter::once(&slot[..length]), always);
    }

    /// Takes a message that lies in several pieces, without joining them.
    #[inline]
    pub fn receive_pieces<'a>(&self, pieces: impl Iterator<Item = &'a [u8]> + Clone) {
        let received_ns = clock::now_ns();
        self.0.take(received_ns, pieces, always);
    }

    /// The stamp for [`Self::receive_at`], where a worker must do something (take a lock, look for a reassembly) before
    /// it can hand a message over that it already has.
    #[must_use]
    #[inline]
    pub fn stamp() -> i64 {
        clock::now_ns()
    }

    /// Takes a message that was received at `received_ns` (see [`Self::stamp`]).
    #[inline]
    pub fn receive_at(&self, received_ns: i64, message: &[u8]) {
        self.0.take(received_ns, std::iter::once(message), always);
    }
}

/// Where a middleware hands over the requests of one server. Cheap to clone; any thread may call it.
#[derive(Clone)]
pub struct Server(Arc<ReceiverState>);

impl Server {
    pub(crate) fn new(state: Arc<ReceiverState>) -> Server {
        Server(state)
    }

    /// Takes a request and answers it by `reply`, a publisher of this one response: by the time this returns, the server
    /// has computed and `reply` was called once, or not at all where the bytes were no request of this trial. Call it at
    /// once when the middleware hands the request over, on a thread on which it lets a server answer.
    #[inline]
    pub fn serve(&self, request: &[u8], reply: PublisherMut<'_>) {
        self.serve_at(clock::now_ns(), request, reply);
    }

    /// The same of a request that was received at `received_ns` (see [`Receiver::stamp`]).
    #[inline]
    pub fn serve_at(&self, received_ns: i64, request: &[u8], reply: PublisherMut<'_>) {
        self.0
            .take_request(received_ns, std::iter::once(request), always, Some(reply));
    }

    /// How many bytes the request has that a slot of the channel's largest size begins with.
    #[must_use]
    #[inline]
    pub fn request_bytes(&self, slot: &[u8]) -> usize {
        self.0.channel.bytes_of(slot).unwrap_or(slot.len()).min(slot.len())
    }
}

/// Of a message that nobody writes over.
#[inline]
fn always() -> bool {
    true
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
