//! How a receiver gets a payload: joined in one buffer, or as the pieces that Zenoh has it in.
//!
//! The pieces come as an iterator that can be cloned, which Zenoh's own can't: the receiver walks over them a few times.

use middlemark_runtime::Receiver;
use zenoh::bytes::{ZBytes, ZBytesSliceIterator};
use zenoh::sample::Sample;

/// Gives a sample's payload to a receiver.
pub(crate) type HandOver = fn(&Sample, &Receiver);

/// In one buffer, which Zenoh makes where the payload is in several: only then can it be used, and it is stamped.
pub(crate) fn joined(sample: &Sample, receiver: &Receiver) {
    receiver.receive(&sample.payload().to_bytes());
}

/// Its pieces where they are: nothing is joined or copied.
pub(crate) fn as_they_lie(sample: &Sample, receiver: &Receiver) {
    receiver.receive_pieces(Pieces::of(sample.payload()));
}

struct Pieces<'a> {
    payload: &'a ZBytes,
    slices: ZBytesSliceIterator<'a>,
    taken: usize,
}

impl<'a> Pieces<'a> {
    #[inline]
    fn of(payload: &'a ZBytes) -> Pieces<'a> {
        Pieces {
            payload,
            slices: payload.slices(),
            taken: 0,
        }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.taken += 1;
        self.slices.next()
    }
}

impl Clone for Pieces<'_> {
    #[inline]
    fn clone(&self) -> Self {
        let mut clone = Pieces::of(self.payload);
        for _ in 0..self.taken {
            clone.next();
        }
        clone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_goes_on_where_the_original_stands() {
        let mut writer = ZBytes::writer();
        writer.append(vec![1, 2].into());
        writer.append(vec![3].into());
        writer.append(vec![4, 5].into());
        let payload = writer.finish();
        let mut pieces = Pieces::of(&payload);
        let first = pieces.next().map(<[u8]>::to_vec);
        let rest: Vec<_> = pieces.clone().flatten().copied().collect();
        let original: Vec<_> = pieces.flatten().copied().collect();
        assert_eq!((first, rest), (Some(vec![1, 2]), original.clone()));
        assert_eq!(original, [3, 4, 5]);
    }
}
