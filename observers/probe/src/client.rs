//! The measuring side's conversation with the answering side, over a link that may lose anything.
//!
//! Every request is sent again until its reply comes or patience ends; no wait is without a deadline.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use middlemark_runtime::clock::now_ns;

use crate::error::ProbeError;
use crate::wire::datagram::{HEADER_BYTES, Header, Kind, LARGEST_BYTES};
use crate::wire::message::{Reply, Request};
use crate::wire::socket::{Arrival, Room, Socket, wake_precisely};

/// After how long a request is sent again: soon at first, as a full queue that dropped it empties within milliseconds, then
/// twice as late each time, as a slow link is not to be filled with questions.
const FIRST_RETRY_NS: i64 = 5_000_000;
const LAST_RETRY_NS: i64 = 50_000_000;
/// How long after the last datagram a train counts as through, besides twice the round trip.
const SETTLE_NS: i64 = 250_000_000;

pub(crate) struct Client {
    pub(crate) socket: Socket,
    pub(crate) to: SocketAddr,
    pub(crate) session: u64,
    patience_ns: i64,
    round_trip_ns: i64,
    requests: u32,
    trains: u32,
    room: Box<Room>,
}

impl Client {
    pub(crate) fn open(to: SocketAddr, patience_ns: i64) -> Result<Self, ProbeError> {
        wake_precisely();
        let any: IpAddr = if to.is_ipv4() {
            Ipv4Addr::UNSPECIFIED.into()
        } else {
            Ipv6Addr::UNSPECIFIED.into()
        };
        Ok(Self {
            socket: Socket::bind((any, 0).into())?,
            to,
            session: (now_ns() as u64) << 20 | u64::from(std::process::id() & 0xf_ffff),
            patience_ns,
            round_trip_ns: 0,
            requests: 0,
            trains: 0,
            room: Box::new([0; LARGEST_BYTES]),
        })
    }

    /// Whether anyone answers; says how long it took and learns how long to wait from now on.
    pub(crate) fn greet(&mut self) -> Result<Option<Reply>, ProbeError> {
        // The first exchange resolves the neighbour's address, so that only the second tells the round trip.
        if self.ask(&Request::Hello, |_, _| {})?.is_none() {
            return Ok(None);
        }
        let begin_ns = now_ns();
        let reply = self.ask(&Request::Hello, |_, _| {})?;
        self.round_trip_ns = now_ns() - begin_ns;
        Ok(reply)
    }

    /// Numbers grow, so that what is left of an earlier train is known as such.
    pub(crate) fn next_train(&mut self) -> u32 {
        self.trains += 1;
        self.trains
    }

    /// How long after the last datagram nothing more is expected.
    pub(crate) fn settle_ns(&self) -> i64 {
        (SETTLE_NS + 2 * self.round_trip_ns).min(self.patience_ns)
    }

    /// The reply to a request, none when patience ended; other datagrams that come meanwhile go to `other`.
    pub(crate) fn ask(
        &mut self,
        request: &Request,
        mut other: impl FnMut(&Header, Arrival),
    ) -> Result<Option<Reply>, ProbeError> {
        self.requests += 1;
        let number = self.requests;
        let header = Header {
            kind: Kind::Request,
            session: self.session,
            train: 0,
            number,
            sent_ns: 0,
        };
        let mut datagram = vec![0; HEADER_BYTES];
        header.write(&mut datagram);
        serde_json::to_writer(&mut datagram, request).expect("a request is made of numbers and words");
        let deadline_ns = now_ns() + self.patience_ns;
        let mut pause_ns = FIRST_RETRY_NS.max(2 * self.round_trip_ns);
        while now_ns() < deadline_ns {
            self.socket.send(&datagram, self.to);
            let retry_ns = (now_ns() + pause_ns).min(deadline_ns);
            pause_ns = (2 * pause_ns).min(LAST_RETRY_NS.max(2 * self.round_trip_ns));
            while let Some((header, arrival)) = self.next(retry_ns)? {
                match header.kind {
                    Kind::Reply if header.number == number => {
                        return Ok(serde_json::from_slice(&self.room[HEADER_BYTES..arrival.length]).ok());
                    }
                    Kind::Reply => {}
                    _ => other(&header, arrival),
                }
            }
        }
        Ok(None)
    }

    /// The next datagram of this session, none when there is none until an instant.
    pub(crate) fn next(&mut self, until_ns: i64) -> Result<Option<(Header, Arrival)>, ProbeError> {
        loop {
            while let Some(arrival) = self.socket.receive(&mut self.room) {
                let header = Header::read(&self.room[..arrival.length]);
                if let Some(header) = header.filter(|header| header.session == self.session) {
                    return Ok(Some((header, arrival)));
                }
            }
            let left_ns = until_ns - now_ns();
            if left_ns <= 0 {
                return Ok(None);
            }
            self.socket.wait(None, Some(left_ns))?;
        }
    }
}
