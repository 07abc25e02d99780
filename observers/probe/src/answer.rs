//! The answering side: returns pings, counts what arrives, sends trains on request.
//!
//! It ends when standard input does. Each measuring side is known by its address and session.

use std::collections::HashMap;
use std::io::Read;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use middlemark_runtime::clock::now_ns;
use serde::Serialize;

use crate::error::ProbeError;
use crate::train::arrivals::Arrivals;
use crate::train::departures::Departures;
use crate::wire::checksums;
use crate::wire::datagram::{HEADER_BYTES, Header, Kind, LARGEST_BYTES};
use crate::wire::message::{Reply, Request, Train};
use crate::wire::socket::{Arrival, Room, Socket, wake_precisely};

/// Datagrams that are taken before trains get their turn.
const PORTION: usize = 64;
/// Measuring sides that are remembered; the one not heard for longest is forgotten.
const MOST_PEERS: usize = 64;

/// What the answering side says.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Ready { address: SocketAddr },
}

/// Answers until standard input ends.
pub(crate) fn answer(address: SocketAddr) -> Result<(), ProbeError> {
    wake_precisely();
    let mut answering = Answering {
        socket: Socket::bind(address)?,
        peers: HashMap::new(),
        checksum_failures_before: checksums::failures(),
    };
    crate::print(&Event::Ready {
        address: answering.socket.address()?,
    })?;
    let mut front = std::io::stdin();
    let mut room = Box::new([0; LARGEST_BYTES]);
    loop {
        let front_speaks = answering.socket.wait(Some(front.as_raw_fd()), answering.idle_ns())?;
        if front_speaks && front.read(&mut [0; 256]).map_err(ProbeError::Front)? == 0 {
            return Ok(());
        }
        for _ in 0..PORTION {
            let Some(arrival) = answering.socket.receive(&mut room) else {
                break;
            };
            answering.handle(arrival, &mut room);
        }
        for peer in answering.peers.values_mut() {
            if let Some(departures) = &mut peer.departures {
                departures.send_due(now_ns(), |datagram, to| answering.socket.send(datagram, to));
            }
        }
    }
}

struct Answering {
    socket: Socket,
    peers: HashMap<SocketAddr, Peer>,
    checksum_failures_before: u64,
}

/// A measuring side, with its latest train in each direction.
struct Peer {
    session: u64,
    heard_ns: i64,
    arrivals: Option<(u32, Arrivals)>,
    departures: Option<Departures>,
}

impl Answering {
    /// How long nothing has to be sent.
    fn idle_ns(&self) -> Option<i64> {
        let trains = self.peers.values().filter_map(|peer| peer.departures.as_ref());
        trains
            .filter_map(Departures::next_ns)
            .min()
            .map(|next_ns| (next_ns - now_ns()).max(0))
    }

    fn handle(&mut self, arrival: Arrival, room: &mut Room) {
        let Some(header) = Header::read(&room[..arrival.length]) else {
            return;
        };
        match header.kind {
            Kind::Ping => {
                Header {
                    kind: Kind::Pong,
                    ..header
                }
                .write(room.as_mut_slice());
                self.socket.send(&room[..arrival.length], arrival.from);
            }
            Kind::Wagon => self.count(&header, arrival),
            Kind::Request => {
                if let Ok(request) = serde_json::from_slice(&room[HEADER_BYTES..arrival.length]) {
                    self.reply(&header, arrival.from, &request, room);
                }
            }
            Kind::Pong | Kind::Reply => {}
        }
    }

    fn count(&mut self, header: &Header, arrival: Arrival) {
        let drops = self.socket.drops();
        let arrivals = &mut self.peer(arrival.from, header.session).arrivals;
        if arrivals.as_ref().is_none_or(|(train, _)| *train < header.train) {
            *arrivals = Some((header.train, Arrivals::new(drops)));
        }
        match arrivals {
            Some((train, arrivals)) if *train == header.train => arrivals.count(header.number, arrival.stamp_ns),
            _ => {} // of an earlier train
        }
    }

    fn reply(&mut self, header: &Header, from: SocketAddr, request: &Request, room: &mut Room) {
        let (drops, checksum_failures) = (
            self.socket.drops(),
            checksums::failures() - self.checksum_failures_before,
        );
        let peer = self.peer(from, header.session);
        let mut reply = Reply {
            checksum_failures,
            ..Reply::default()
        };
        match request {
            Request::Hello => {}
            Request::Send { train } => peer.send(*train, from),
            Request::Tell { train } => {
                if let Some((_, arrivals)) = peer.arrivals.as_ref().filter(|(id, _)| id == train) {
                    reply.arrived = arrivals.counts(drops);
                }
                let departures = peer.departures.as_ref().filter(|one| one.train() == *train);
                reply.sent = departures.filter(|one| one.next_ns().is_none()).map(Departures::sent);
            }
        }
        Header {
            kind: Kind::Reply,
            ..*header
        }
        .write(room.as_mut_slice());
        let body = serde_json::to_vec(&reply).expect("a reply is made of numbers");
        room[HEADER_BYTES..HEADER_BYTES + body.len()].copy_from_slice(&body);
        self.socket.send(&room[..HEADER_BYTES + body.len()], from);
    }

    fn peer(&mut self, from: SocketAddr, session: u64) -> &mut Peer {
        if self.peers.len() >= MOST_PEERS && !self.peers.contains_key(&from) {
            let longest = self
                .peers
                .iter()
                .min_by_key(|(_, peer)| peer.heard_ns)
                .map(|(address, _)| *address);
            self.peers.remove(&longest.expect("there are peers"));
        }
        let fresh = || Peer {
            session,
            heard_ns: 0,
            arrivals: None,
            departures: None,
        };
        let peer = self.peers.entry(from).or_insert_with(fresh);
        if peer.session != session {
            *peer = fresh();
        }
        peer.heard_ns = now_ns();
        peer
    }
}

impl Peer {
    /// Asked twice for the same train, it sends it once.
    fn send(&mut self, train: Train, to: SocketAddr) {
        if self.departures.as_ref().is_none_or(|one| one.train() < train.id) {
            self.departures = Some(Departures::new(train, self.session, to, now_ns()));
        }
    }
}
