//! A payload's pieces as an iterator that can be cloned, which Zenoh's own can't.
//!
//! It joins and copies nothing; the receiver walks over the pieces a few times.

use zenoh::bytes::{ZBytes, ZBytesSliceIterator};

pub(crate) struct Pieces<'a> {
    payload: &'a ZBytes,
    slices: ZBytesSliceIterator<'a>,
    taken: usize,
}

impl<'a> Pieces<'a> {
    #[inline]
    pub(crate) fn of(payload: &'a ZBytes) -> Pieces<'a> {
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
