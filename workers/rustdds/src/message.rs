//! The type of every message, a sequence of octets in plain CDR: its length, then its bytes.
//!
//! RustDDS asks for an adapter each way, as it asks for one of serde's types; it sends and takes nothing.

use std::cell::RefCell;
use std::convert::Infallible;

use bytes::{BufMut, Bytes, BytesMut};
use rustdds::RepresentationIdentifier;
use rustdds::no_key::{Decode, DeserializerAdapter, SerializerAdapter};

/// What stands before the bytes.
const LENGTH_BYTES: usize = size_of::<u32>();

/// The adapter of both ways.
pub(crate) struct Octets;

/// A sample was no sequence of octets.
#[derive(Debug, thiserror::Error)]
#[error("a sample is no sequence of octets")]
pub(crate) struct Malformed;

/// A message as it is sent.
pub(crate) fn serialized(message: &[u8]) -> Bytes {
    let mut sample = BytesMut::with_capacity(LENGTH_BYTES + message.len());
    sample.put_u32_le(message.len() as u32);
    sample.put_slice(message);
    sample.freeze()
}

impl SerializerAdapter<Bytes> for Octets {
    type Error = Infallible;

    fn output_encoding() -> RepresentationIdentifier {
        RepresentationIdentifier::CDR_LE
    }

    fn to_bytes(sample: &Bytes) -> Result<Bytes, Infallible> {
        Ok(sample.clone())
    }
}

/// Where a sample's bytes are put, to be handed over when the library holds none of its locks any more.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a>(pub(crate) &'a RefCell<Vec<u8>>);

impl DeserializerAdapter<()> for Octets {
    type Error = Malformed;
    type Decoded = ();

    fn supported_encodings() -> &'static [RepresentationIdentifier] {
        &[RepresentationIdentifier::CDR_LE]
    }

    fn transform_decoded((): ()) {}
}

impl<'de> Decode<'de, ()> for Place<'_> {
    type Error = Malformed;

    fn decode_bytes(self, sample: &'de [u8], _encoding: RepresentationIdentifier) -> Result<(), Malformed> {
        let message = octets(sample).ok_or(Malformed)?;
        let mut place = self.0.borrow_mut();
        place.clear();
        place.extend_from_slice(message);
        Ok(())
    }
}

/// The bytes of a sample, behind which there may be padding.
fn octets(sample: &[u8]) -> Option<&[u8]> {
    let (length, bytes) = sample.split_first_chunk::<LENGTH_BYTES>()?;
    bytes.get(..u32::from_le_bytes(*length) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_its_length_and_its_bytes_and_padding_is_no_part_of_it() {
        let sample = serialized(b"abc");
        assert_eq!(sample.as_ref(), b"\x03\0\0\0abc");
        let padded = [sample.as_ref(), b"\0"].concat();
        assert_eq!([octets(&sample), octets(&padded)], [Some(b"abc".as_slice()); 2]);
    }

    #[test]
    fn what_is_shorter_than_it_says_is_no_message() {
        assert_eq!([b"\x04\0\0\0abc".as_slice(), b"\x04\0"].map(octets), [None, None]);
    }
}
