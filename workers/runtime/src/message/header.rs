//! The header that opens every message: 32 bytes, little-endian, the same for every middleware.
//!
//! ```text
//!  0 sent_ns      i64   when the message was handed to the middleware
//!  8 intended_ns  i64   when it was to be; in an answer, when its question was sent
//! 16 sequence     u32   from 0, for each publisher; an answer has that of its question
//! 20 token        u32   the trial's; any other is foreign
//! 24 channel      u16   the channel's number
//! 26 publisher    u16   the publisher's index on its channel
//! 28 asker        u16   in an answer, the index of the client that asked; else 0
//! 30 phase        u8    a greeting, before the window, or within it
//! 31 version      u8    of this layout
//! ```

/// The header's size.
pub(crate) const HEADER_BYTES: usize = middlemark_contract::SMALLEST_MESSAGE_BYTES as usize;

/// Where the sequence number stands.
pub(crate) const SEQUENCE_AT: usize = 16;

/// Where the token stands.
pub(crate) const TOKEN_AT: usize = 20;

/// Where the phase stands.
pub(crate) const PHASE_AT: usize = 30;

/// The version of this layout.
pub(crate) const HEADER_VERSION: u8 = 1;

/// Which part of a trial a message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Sent before the window opened, in its own size and at its stream's rate: it only serves to warm up.
    Approach = 0,
    /// Sent within the window: it counts.
    Window = 1,
    /// The header alone, sent until every subscriber has heard every publisher.
    Greeting = 2,
}

/// A message's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// When the message was handed to the middleware.
    pub sent_ns: i64,
    /// When it was to be; in an answer, when its question was sent.
    pub intended_ns: i64,
    /// Its sequence number.
    pub sequence: u32,
    /// The trial's token.
    pub token: u32,
    /// The channel's number.
    pub channel: u16,
    /// The publisher's index.
    pub publisher: u16,
    /// The client that asked, in an answer.
    pub asker: u16,
    /// Whether it belongs to the window.
    pub phase: Phase,
}

impl Header {
    /// The header as bytes.
    #[must_use]
    #[inline]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..8].copy_from_slice(&self.sent_ns.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.intended_ns.to_le_bytes());
        bytes[SEQUENCE_AT..TOKEN_AT].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[TOKEN_AT..24].copy_from_slice(&self.token.to_le_bytes());
        bytes[24..26].copy_from_slice(&self.channel.to_le_bytes());
        bytes[26..28].copy_from_slice(&self.publisher.to_le_bytes());
        bytes[28..30].copy_from_slice(&self.asker.to_le_bytes());
        bytes[PHASE_AT] = self.phase as u8;
        bytes[31] = HEADER_VERSION;
        bytes
    }

    /// Reads a header; none where the layout is another's.
    #[must_use]
    #[inline]
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Option<Header> {
        let phase = match (bytes[PHASE_AT], bytes[31]) {
            (0, HEADER_VERSION) => Phase::Approach,
            (1, HEADER_VERSION) => Phase::Window,
            (2, HEADER_VERSION) => Phase::Greeting,
            _ => return None,
        };
        Some(Header {
            sent_ns: i64::from_le_bytes(part(bytes, 0)),
            intended_ns: i64::from_le_bytes(part(bytes, 8)),
            sequence: u32::from_le_bytes(part(bytes, SEQUENCE_AT)),
            token: u32::from_le_bytes(part(bytes, TOKEN_AT)),
            channel: u16::from_le_bytes(part(bytes, 24)),
            publisher: u16::from_le_bytes(part(bytes, 26)),
            asker: u16::from_le_bytes(part(bytes, 28)),
            phase,
        })
    }
}

#[inline]
fn part<const N: usize>(bytes: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    let mut taken = [0; N];
    taken.copy_from_slice(&bytes[at..at + N]);
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        sent_ns: -2,
        intended_ns: i64::MAX,
        sequence: 7,
        token: 0xDEAD_BEEF,
        channel: 258,
        publisher: 3,
        asker: 4,
        phase: Phase::Window,
    };

    #[test]
    fn what_is_encoded_is_decoded() {
        assert_eq!(Header::decode(&HEADER.encode()), Some(HEADER));
    }

    #[test]
    fn the_layout_is_little_endian_and_as_documented() {
        let bytes = HEADER.encode();
        assert_eq!(
            bytes[16..32],
            [7, 0, 0, 0, 0xEF, 0xBE, 0xAD, 0xDE, 2, 1, 3, 0, 4, 0, 1, 1]
        );
    }

    #[test]
    fn another_layout_or_phase_is_no_header() {
        let mut bytes = HEADER.encode();
        bytes[31] = 2;
        assert_eq!(Header::decode(&bytes), None);
        bytes[30..].copy_from_slice(&[9, HEADER_VERSION]);
        assert_eq!(Header::decode(&bytes), None);
    }
}
