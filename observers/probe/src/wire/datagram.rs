//! The header of every datagram between the two probes: which request and train it belongs to, its number in it.

use std::net::IpAddr;

/// Every datagram begins with so many bytes, little-endian.
pub(crate) const HEADER_BYTES: usize = 32;
/// No datagram is longer.
pub(crate) const LARGEST_BYTES: usize = 9000;
/// Ethernet header (14), frame check sequence (4), preamble and start (8), gap (12) about an IP packet.
pub(crate) const ETHERNET_BYTES: usize = 38;
const MARK: u32 = 0x6d6d_7062;

/// IP and UDP headers before a datagram's payload.
pub(crate) fn ip_udp_bytes(to: IpAddr) -> usize {
    if to.is_ipv4() { 28 } else { 48 }
}

/// What a datagram is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To be sent back as a pong.
    Ping,
    Pong,
    /// One of a train, to be counted.
    Wagon,
    /// JSON behind the header: a request to the answering side.
    Request,
    /// JSON behind the header: its reply.
    Reply,
}

const KINDS: [Kind; 5] = [Kind::Ping, Kind::Pong, Kind::Wagon, Kind::Request, Kind::Reply];

/// What stands in the first bytes of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// Tells one measurement from another that used the same port before.
    pub(crate) session: u64,
    pub(crate) train: u32,
    pub(crate) number: u32,
    /// When a ping was sent, by the clock of the measuring side.
    pub(crate) sent_ns: i64,
}

impl Header {
    pub(crate) fn write(&self, datagram: &mut [u8]) {
        datagram[0..4].copy_from_slice(&MARK.to_le_bytes());
        datagram[4..8].copy_from_slice(&(self.kind as u32).to_le_bytes());
        datagram[8..16].copy_from_slice(&self.session.to_le_bytes());
        datagram[16..20].copy_from_slice(&self.train.to_le_bytes());
        datagram[20..24].copy_from_slice(&self.number.to_le_bytes());
        datagram[24..32].copy_from_slice(&self.sent_ns.to_le_bytes());
    }

    /// None when it is no datagram of a probe.
    pub(crate) fn read(datagram: &[u8]) -> Option<Self> {
        let four = |at: usize| datagram.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
        let eight = |at: usize| datagram.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
        if four(0)? != MARK {
            return None;
        }
        Some(Self {
            kind: *KINDS.get(four(4)? as usize)?,
            session: eight(8)?,
            train: four(16)?,
            number: four(20)?,
            sent_ns: eight(24)? as i64,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::message::{Reply, Request};

    proptest! {
        #[test]
        fn whatever_arrives_is_a_datagram_of_a_probe_or_passed_over(
            kind in 0..6u32, mark in any::<bool>(), rest in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            let begin = if mark { MARK } else { 0 };
            let datagram = [begin.to_le_bytes().as_slice(), &kind.to_le_bytes(), &rest].concat();
            let read = Header::read(&datagram);
            prop_assert_eq!(read.is_some(), mark && kind < 5 && datagram.len() >= HEADER_BYTES);
            if let Some(header) = read {
                let mut again = datagram.clone();
                header.write(&mut again);
                prop_assert_eq!(&again, &datagram);
                let _ = serde_json::from_slice::<Request>(&datagram[HEADER_BYTES..]);
                let _ = serde_json::from_slice::<Reply>(&datagram[HEADER_BYTES..]);
            }
        }
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        for kind in KINDS {
            let header = Header {
                kind,
                session: u64::MAX - 1,
                train: 3,
                number: 4,
                sent_ns: -5,
            };
            let mut datagram = [0xff; 40];
            header.write(&mut datagram);
            assert_eq!(Header::read(&datagram), Some(header));
        }
    }

    #[test]
    fn what_is_no_datagram_of_a_probe_is_passed_over() {
        let mut datagram = [0; HEADER_BYTES];
        assert_eq!(Header::read(&datagram), None);
        Header {
            kind: Kind::Ping,
            session: 0,
            train: 0,
            number: 0,
            sent_ns: 0,
        }
        .write(&mut datagram);
        assert_eq!(Header::read(&datagram[..31]), None);
        datagram[4] = 9;
        assert_eq!(Header::read(&datagram), None);
    }
}
