//! A message that lies in pieces: its header and its body, wherever it is cut.
//!
//! Nothing is joined or copied but the header, where a cut goes through it, and who asks for it has a whole body.

use std::borrow::Cow;

use crate::message::header::{HEADER_BYTES, Header};

/// The header; none where there are too few bytes, or the layout is another's.
#[inline]
pub(crate) fn header<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<Header> {
    first_bytes(pieces).as_ref().and_then(Header::decode)
}

/// What of each piece belongs to the body.
#[inline]
pub(crate) fn bodies<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> impl Iterator<Item = &'a [u8]> {
    pieces.scan(HEADER_BYTES, |left, piece| {
        let skipped = piece.len().min(*left);
        *left -= skipped;
        Some(&piece[skipped..])
    })
}

/// All pieces as one: where they lie where only one has bytes, else copied together.
pub(crate) fn joined<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Cow<'a, [u8]> {
    let mut whole = Cow::Borrowed(&[][..]);
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        if whole.is_empty() {
            whole = Cow::Borrowed(piece);
        } else {
            whole.to_mut().extend_from_slice(piece);
        }
    }
    whole
}

#[inline]
fn first_bytes<'a>(mut pieces: impl Iterator<Item = &'a [u8]>) -> Option<[u8; HEADER_BYTES]> {
    let first = pieces.next()?;
    if let Some(whole) = first.first_chunk::<HEADER_BYTES>() {
        return Some(*whole);
    }
    let mut bytes = [0; HEADER_BYTES];
    let mut filled = 0;
    for piece in std::iter::once(first).chain(pieces) {
        let length = piece.len().min(HEADER_BYTES - filled);
        bytes[filled..filled + length].copy_from_slice(&piece[..length]);
        filled += length;
        if filled == HEADER_BYTES {
            return Some(bytes);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_the_same_wherever_the_message_is_cut() {
        let message: Vec<u8> = (0..100).collect();
        for cut in 0..=message.len() {
            let (head, tail) = message.split_at(cut);
            let pieces = [head, tail].into_iter();
            assert_eq!(
                bodies(pieces.clone()).collect::<Vec<_>>().concat(),
                message[HEADER_BYTES..]
            );
            assert_eq!(joined(bodies(pieces.clone())).as_ref(), &message[HEADER_BYTES..]);
            assert_eq!(first_bytes(pieces).unwrap(), message[..HEADER_BYTES]);
        }
    }

    #[test]
    fn fewer_bytes_than_a_header_are_none() {
        let bytes = [0; HEADER_BYTES - 1];
        assert_eq!(header(bytes.chunks(7)), None);
    }
}
