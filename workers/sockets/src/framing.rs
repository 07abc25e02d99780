//! Messages on a stream: each behind its length, four bytes, little-endian.
//!
//! The reader's buffer holds a whole number of frames, all of one size, so that no frame ever straddles its end and no
//! byte is moved after the kernel has copied it; it knows no socket beyond [`Read`].

use std::io::{self, Read};

/// The length's size.
pub(crate) const PREFIX_BYTES: usize = 4;

/// Small frames are read so many bytes at a time.
const BATCH_BYTES: usize = 64 * 1024;

/// The prefix of a message.
#[inline]
pub(crate) fn prefix(message_bytes: usize) -> [u8; PREFIX_BYTES] {
    (message_bytes as u32).to_le_bytes()
}

/// Takes messages of one size from a stream.
pub(crate) struct FrameReader {
    buffer: Vec<u8>,
    frame_bytes: usize,
    filled: usize,
    taken: usize,
}

impl FrameReader {
    pub(crate) fn new(message_bytes: usize) -> FrameReader {
        let frame_bytes = PREFIX_BYTES + message_bytes;
        let frames = (BATCH_BYTES / frame_bytes).max(1);
        FrameReader {
            buffer: vec![0; frames * frame_bytes],
            frame_bytes,
            filled: 0,
            taken: 0,
        }
    }

    /// Reads once, and hands over every message that is whole by then; false at the end of the stream.
    ///
    /// # Errors
    /// The stream's own, or `InvalidData` for a frame of another size: it isn't from a publisher of this channel.
    #[inline]
    pub(crate) fn read(&mut self, stream: &mut impl Read, mut deliver: impl FnMut(&[u8])) -> io::Result<bool> {
        let read = stream.read(&mut self.buffer[self.filled..])?;
        if read == 0 {
            return Ok(false);
        }
        self.filled += read;
        while self.filled - self.taken >= self.frame_bytes {
            let frame = &self.buffer[self.taken..self.taken + self.frame_bytes];
            let (length, message) = frame.split_at(PREFIX_BYTES);
            if length != prefix(message.len()) {
                return Err(io::ErrorKind::InvalidData.into());
            }
            deliver(message);
            self.taken += self.frame_bytes;
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

    fn frames(messages: &[&[u8]]) -> Vec<u8> {
        messages
            .iter()
            .flat_map(|message| prefix(message.len()).into_iter().chain(message.iter().copied()))
            .collect()
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
        let stream = frames(&sent.iter().map(<[u8; 3]>::as_slice).collect::<Vec<_>>());
        for step in [1, 2, 6, 7, 8, 50_000, usize::MAX] {
            let mut trickle = Trickle(&stream, step);
            let mut reader = FrameReader::new(3);
            let mut received = Vec::new();
            while reader
                .read(&mut trickle, |message| received.push(message.to_vec()))
                .unwrap()
            {}
            assert_eq!(received, sent, "cut into {step}");
        }
    }

    #[test]
    fn a_frame_of_another_size_is_refused() {
        let stream = frames(&[b"abc", b"abcd"]);
        let mut reader = FrameReader::new(3);
        let mut received = 0;
        let mut trickle = Trickle(&stream, 7);
        assert!(reader.read(&mut trickle, |_| received += 1).unwrap());
        let error = reader.read(&mut trickle, |_| received += 1).unwrap_err();
        assert_eq!((received, error.kind()), (1, io::ErrorKind::InvalidData));
    }
}
