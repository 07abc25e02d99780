//! Messages on a stream: one after the other, all of the channel's one size, which both ends know.
//!
//! The reader's buffer holds a whole number of messages, so that none ever straddles its end and no byte is moved after
//! the kernel has copied it; it knows no socket beyond [`Read`], and no content: that is the inlet's to judge.

use std::io::{self, Read};

/// Small messages are read so many bytes at a time.
const BATCH_BYTES: usize = 64 * 1024;

/// Takes messages of one size from a stream.
pub(crate) struct StreamReader {
    buffer: Vec<u8>,
    message_bytes: usize,
    filled: usize,
    taken: usize,
}

impl StreamReader {
    pub(crate) fn new(message_bytes: usize) -> StreamReader {
        let messages = (BATCH_BYTES / message_bytes).max(1);
        StreamReader {
            buffer: vec![0; messages * message_bytes],
            message_bytes,
            filled: 0,
            taken: 0,
        }
    }

    /// Reads once, and hands over every message that is whole by then; false at the end of the stream.
    ///
    /// # Errors
    /// The stream's own.
    #[inline]
    pub(crate) fn read(&mut self, stream: &mut impl Read, mut deliver: impl FnMut(&[u8])) -> io::Result<bool> {
        let read = stream.read(&mut self.buffer[self.filled..])?;
        if read == 0 {
            return Ok(false);
        }
        self.filled += read;
        while self.filled - self.taken >= self.message_bytes {
            deliver(&self.buffer[self.taken..self.taken + self.message_bytes]);
            self.taken += self.message_bytes;
        }
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                .read(&mut trickle, |message| received.push(message.to_vec()))
                .unwrap()
            {}
            assert_eq!(received, sent, "cut into {step}");
        }
    }
}
