//! Messages on a stream: one after the other, of sizes that both ends know.
//!
//! The reader's buffer holds a whole number of the largest messages, so that where all have one size none straddles its
//! end and no byte is moved after the kernel has copied it. It knows no socket beyond [`Read`] and judges no content.

use std::io::{self, Read};

/// Small messages are read so many bytes at a time.
const BATCH_BYTES: usize = 64 * 1024;

/// Takes messages from a stream.
pub(crate) struct StreamReader {
    buffer: Vec<u8>,
    largest_bytes: usize,
    filled: usize,
    taken: usize,
}

impl StreamReader {
    pub(crate) fn new(largest_bytes: usize) -> StreamReader {
        let messages = (BATCH_BYTES / largest_bytes).max(1);
        StreamReader {
            buffer: vec![0; messages * largest_bytes],
            largest_bytes,
            filled: 0,
            taken: 0,
        }
    }

    /// Reads once, and hands over every message that is whole by then; false at the end of the stream. `bytes_of` is the
    /// size of the message that begins with what it is given, none where that is too little to tell.
    ///
    /// # Errors
    /// The stream's own.
    #[inline]
    pub(crate) fn read(
        &mut self,
        stream: &mut impl Read,
        bytes_of: impl Fn(&[u8]) -> Option<usize>,
        mut deliver: impl FnMut(&[u8]),
    ) -> io::Result<bool> {
        let read = stream.read(&mut self.buffer[self.filled..])?;
        if read == 0 {
            return Ok(false);
        }
        self.filled += read;
        loop {
            let begun = &self.buffer[self.taken..self.filled];
            let Some(message) = bytes_of(begun).and_then(|length| begun.get(..length)) else {
                break;
            };
            deliver(message);
            self.taken += message.len();
        }
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        } else if self.buffer.len() - self.taken < self.largest_bytes {
            self.buffer.copy_within(self.taken..self.filled, 0);
            (self.taken, self.filled) = (0, self.filled - self.taken);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_a_peer_sends_every_byte_is_delivered_once_and_in_order(
            stream in vec(any::<u8>(), 0..5000), steps in vec(1..3000usize, 1..20), largest in 2..400usize,
        ) {
            // The first byte of a message is what its peer says of its size.
            let length = |begun: &[u8]| begun.first().map(|byte| 1 + usize::from(*byte) % largest);
            let mut reader = StreamReader::new(largest);
            let mut received = Vec::new();
            let mut rest = stream.as_slice();
            for step in steps.iter().cycle() {
                let mut trickle = Trickle(rest, *step);
                let goes_on = reader.read(&mut trickle, length, |message| received.extend_from_slice(message)).unwrap();
                rest = trickle.0;
                if !goes_on {
                    break;
                }
            }
            prop_assert!(rest.is_empty());
            prop_assert!(stream.starts_with(&received) && stream.len() - received.len() < largest);
        }
    }

    /// Gives at most `step` bytes a call.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let step = self.1.min(buffer.len()).min(self.0.len());
            buffer[..step].copy_from_slice(&self.0[..step]);
            self.0 = &self.0[step..];
            Ok(step)
        }
    }

    #[test]
    fn messages_come_whole_and_in_order_however_the_stream_is_cut() {
        let sent: Vec<[u8; 3]> = (0..30_000u16).map(|k| [k as u8, (k >> 8) as u8, 7]).collect();
        let stream = sent.concat();
        for step in [1, 2, 6, 7, 8, 50_000, usize::MAX] {
            let mut trickle = Trickle(&stream, step);
            let mut reader = StreamReader::new(3);
            let mut received = Vec::new();
            while reader
                .read(
                    &mut trickle,
                    |begun| (!begun.is_empty()).then_some(3),
                    |message| received.push(message.to_vec()),
                )
                .unwrap()
            {}
            assert_eq!(received, sent, "cut into {step}");
        }
    }

    #[test]
    fn messages_of_many_sizes_come_whole_and_in_order_however_the_stream_is_cut() {
        // Each message's first two bytes are its length.
        let length = |begun: &[u8]| begun.first_chunk().map(|bytes| usize::from(u16::from_le_bytes(*bytes)));
        let sent: Vec<Vec<u8>> = (0..3_000u16)
            .map(|k| {
                let length = 2 + k * 7 % 999;
                [length.to_le_bytes().as_slice(), &vec![k as u8; usize::from(length) - 2]].concat()
            })
            .collect();
        let stream = sent.concat();
        for step in [1, 999, 1000, 50_000, usize::MAX] {
            let mut trickle = Trickle(&stream, step);
            let mut reader = StreamReader::new(1000);
            let mut received = Vec::new();
            while reader
                .read(&mut trickle, length, |message| received.push(message.to_vec()))
                .unwrap()
            {}
            assert_eq!(received, sent, "cut into {step}");
        }
    }
}
