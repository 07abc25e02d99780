//! The bytes of a message behind its header: incompressible, different for each message, known to both sides.
//!
//! A message's body is a window of a pool of random bytes, at an offset that its identity decides, so that filling and
//! checking cost one pass over memory each; it knows nothing of the header's fields beyond that identity.

use std::mem::MaybeUninit;

use crate::message::header::{HEADER_BYTES, Header};

/// How many different bodies there are: the offsets into the pool.
const OFFSETS: usize = 1 << 16;

/// What decides a message's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The channel's number.
    pub channel: u16,
    /// The publisher's index.
    pub publisher: u16,
    /// The message's sequence number.
    pub sequence: u32,
}

impl Identity {
    /// Which body the message with this header has.
    #[inline]
    pub(crate) fn of(header: &Header) -> Identity {
        Identity {
            channel: header.channel,
            publisher: header.publisher,
            sequence: header.sequence,
        }
    }
}

/// The random bytes that all bodies of one trial are taken from.
#[derive(Debug)]
pub(crate) struct Pool(Vec<u8>);

impl Pool {
    /// A pool for messages of up to `largest_bytes`, the same for the same token.
    #[must_use]
    pub(crate) fn new(token: u32, largest_bytes: usize) -> Pool {
        let words = (largest_bytes + OFFSETS).div_ceil(8);
        let mut state = u64::from(token);
        let mut bytes = Vec::with_capacity(words * 8);
        for _ in 0..words {
            bytes.extend_from_slice(&split_mix(&mut state).to_le_bytes());
        }
        Pool(bytes)
    }

    /// The body of a message of `size_bytes` in all.
    #[must_use]
    #[inline]
    pub(crate) fn body(&self, identity: Identity, size_bytes: usize) -> &[u8] {
        let offset = offset(identity);
        &self.0[offset..offset + size_bytes - HEADER_BYTES]
    }

    /// Writes the body behind the header's place.
    #[inline]
    pub(crate) fn fill(&self, identity: Identity, message: &mut [MaybeUninit<u8>]) {
        let body = self.body(identity, message.len());
        // SAFETY: u8 and MaybeUninit<u8> have the same layout, and initialised bytes are valid MaybeUninit ones.
        let body = unsafe { std::slice::from_raw_parts(body.as_ptr().cast::<MaybeUninit<u8>>(), body.len()) };
        message[HEADER_BYTES..].copy_from_slice(body);
    }
}

/// A message being compared with what it should be, piece by piece.
pub(crate) struct Check<'a> {
    rest: &'a [u8],
    right: bool,
}

impl<'a> Check<'a> {
    /// Starts to compare the whole body of a message.
    #[must_use]
    pub(crate) fn new(pool: &'a Pool, identity: Identity, size_bytes: usize) -> Check<'a> {
        Check {
            rest: pool.body(identity, size_bytes),
            right: true,
        }
    }

    /// Compares the next piece.
    pub(crate) fn piece(&mut self, bytes: &[u8]) {
        let length = bytes.len().min(self.rest.len());
        let (expected, rest) = self.rest.split_at(length);
        self.right &= expected == bytes;
        self.rest = rest;
    }

    /// Whether all of it was there and right.
    #[must_use]
    pub(crate) fn passed(&self) -> bool {
        self.right && self.rest.is_empty()
    }
}

#[inline]
fn offset(identity: Identity) -> usize {
    let mut state =
        u64::from(identity.sequence) | u64::from(identity.publisher) << 32 | u64::from(identity.channel) << 48;
    split_mix(&mut state) as usize % OFFSETS
}

/// `SplitMix64` (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
#[inline]
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Identity = Identity {
        channel: 0,
        publisher: 0,
        sequence: 0,
    };
    const SECOND: Identity = Identity {
        channel: 0,
        publisher: 0,
        sequence: 1,
    };

    fn message(pool: &Pool, identity: Identity, size_bytes: usize) -> Vec<u8> {
        let mut message = vec![MaybeUninit::new(0); size_bytes];
        pool.fill(identity, &mut message);
        // SAFETY: every byte was initialised above.
        message.into_iter().map(|byte| unsafe { byte.assume_init() }).collect()
    }

    fn passes(pool: &Pool, identity: Identity, message: &[u8], cut: usize) -> bool {
        let mut check = Check::new(pool, identity, message.len());
        message[HEADER_BYTES..].chunks(cut).for_each(|piece| check.piece(piece));
        check.passed()
    }

    #[test]
    fn a_message_passes_the_check_however_it_is_cut() {
        let pool = Pool::new(1, 1000);
        let message = message(&pool, FIRST, 1000);
        assert!(
            [1, 7, 967, 968, 5000]
                .iter()
                .all(|cut| passes(&pool, FIRST, &message, *cut))
        );
    }

    #[test]
    fn a_single_wrong_bit_a_missing_byte_or_another_message_fails() {
        let pool = Pool::new(1, 1000);
        let mut message = message(&pool, FIRST, 1000);
        assert!(!passes(&pool, SECOND, &message, 100));
        let mut short = Check::new(&pool, FIRST, 1000);
        short.piece(&message[HEADER_BYTES..999]);
        assert!(!short.passed());
        message[999] ^= 1;
        assert!(!passes(&pool, FIRST, &message, 100));
    }

    #[test]
    fn another_trial_has_other_bodies() {
        assert_ne!(Pool::new(1, 100).body(FIRST, 100), Pool::new(2, 100).body(FIRST, 100));
    }

    #[test]
    fn bodies_do_not_compress() {
        // Byte frequencies of random data: a chi-square of 255 degrees of freedom, here within seven deviations.
        let pool = Pool::new(9, 1 << 20);
        let body = pool.body(FIRST, 1 << 20);
        let mut counts = [0f64; 256];
        for byte in body {
            counts[usize::from(*byte)] += 1.0;
        }
        let expected = body.len() as f64 / 256.0;
        let chi_square: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(
            (chi_square - 255.0).abs() < 7.0 * (2.0f64 * 255.0).sqrt(),
            "{chi_square}"
        );
    }
}
