//! A publisher that stamps: it writes a message, stamps it, and hands it to the middleware, in this order.
//!
//! The body is written before the stamp, so that filling is never charged to the middleware; what a loan takes to get is
//! charged, by stamping that much earlier. It neither paces (`sender`) nor records.

use std::mem::MaybeUninit;
use std::sync::Arc;

use crate::clock;
use crate::message::header::{HEADER_BYTES, Header};
use crate::message::payload::{Identity, Pool};
use crate::send::publish::{PublishError, Publisher};

/// One publisher with the application's own buffer.
pub(crate) struct StampingPublisher {
    publisher: Publisher,
    /// Of the message to come.
    size_bytes: usize,
    pool: Arc<Pool>,
    /// The application's buffer; empty where messages are written in place.
    buffer: Vec<u8>,
}

/// When a message was handed over and when the call came back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handed {
    pub(crate) sent_ns: i64,
    pub(crate) returned_ns: i64,
    pub(crate) result: Result<(), PublishError>,
}

impl StampingPublisher {
    /// One for messages of up to `largest_bytes`.
    pub(crate) fn new(publisher: Publisher, largest_bytes: usize, pool: Arc<Pool>) -> StampingPublisher {
        let buffer = match publisher {
            Publisher::Copying(_) => vec![0xA5; largest_bytes],
            Publisher::InPlace(_) => Vec::new(),
        };
        StampingPublisher {
            publisher,
            size_bytes: largest_bytes,
            pool,
            buffer,
        }
    }

    /// Writes the body of the message to come into the application's buffer; in place that can only be done later.
    #[inline]
    pub(crate) fn prepare(&mut self, identity: Identity, size_bytes: usize) {
        self.size_bytes = size_bytes;
        if let Publisher::Copying(_) = self.publisher {
            let body = self.pool.body(identity, size_bytes);
            self.buffer[HEADER_BYTES..size_bytes].copy_from_slice(body);
        }
    }

    /// Stamps the prepared message and hands it over.
    #[inline]
    pub(crate) fn send(&mut self, mut header: Header) -> Handed {
        let result = match &mut self.publisher {
            Publisher::Copying(publisher) => {
                header.sent_ns = clock::now_ns();
                self.buffer[..HEADER_BYTES].copy_from_slice(&header.encode());
                publisher.publish(&self.buffer[..self.size_bytes])
            }
            Publisher::InPlace(publisher) => {
                let asked_ns = clock::now_ns();
                header.sent_ns = asked_ns;
                let pool = &self.pool;
                publisher.publish_in_place(self.size_bytes, &mut |message| {
                    let loan_ns = clock::now_ns() - asked_ns;
                    pool.fill(Identity::of(&header), message);
                    header.sent_ns = clock::now_ns() - loan_ns;
                    write_header(message, &header);
                })
            }
        };
        Handed {
            sent_ns: header.sent_ns,
            returned_ns: clock::now_ns(),
            result,
        }
    }
}

#[inline]
fn write_header(message: &mut [MaybeUninit<u8>], header: &Header) {
    for (place, byte) in message.iter_mut().zip(header.encode()) {
        place.write(byte);
    }
}
