//! The measurement: is anyone there, round trips, then trains in each direction. A dead link gives a result as well.

use std::net::SocketAddr;

use middlemark_runtime::clock::now_ns;

use crate::client::Client;
use crate::error::ProbeError;
use crate::outcome::{ChecksumFailures, Loss, Outcome, Rate};
use crate::round_trip;
use crate::spec::{LossSpec, RateSpec, Spec};
use crate::train::arrivals::Arrivals;
use crate::train::departures::Departures;
use crate::wire::checksums;
use crate::wire::datagram::{ETHERNET_BYTES, Header, Kind, ip_udp_bytes};
use crate::wire::message::{Arrived, MOST_WAGONS, Request, Train};
use crate::wire::socket::Arrival;

/// How often the answering side's counts are requested.
const ASK_EVERY_NS: i64 = 20_000_000;
/// A train from which nothing comes for so long is over, or loses; only then it is asked about.
const PAUSE_NS: i64 = 5_000_000;
/// More is offered than a link transmits, so that frames are missing for ever; the answer queues behind the others.
const RATE_SETTLE_NS: i64 = 0;

/// What was sent of a train, and what arrived of it.
type Account = (u32, Arrived);

/// Measures all that the spec requests.
pub(crate) fn measure(spec: &Spec) -> Result<Outcome, ProbeError> {
    let mut outcome = Outcome::default();
    let mut client = Client::open(SocketAddr::new(spec.to, spec.port), spec.patience_ns)?;
    let failures_before = checksums::failures();
    let Some(greeting) = client.greet()? else {
        return Ok(outcome);
    };
    outcome.reachable = true;
    if let Some(part) = &spec.round_trip {
        outcome.round_trip = Some(round_trip::measure(&mut client, part)?);
    }
    if let Some(part) = &spec.loss {
        let (train, settle_ns) = (loss_train(part), client.settle_ns());
        let loss = |(sent, arrived): Account| Loss::of(sent, &arrived);
        outcome.outgoing.loss = send(&mut client, train, settle_ns)?.map(loss);
        outcome.incoming.loss = fetch(&mut client, train, settle_ns)?.map(loss);
    }
    if let Some(part) = &spec.rate {
        let headers = ip_udp_bytes(spec.to);
        let train = rate_train(part, headers);
        let rate = |(sent, arrived): Account| Rate::of(&train, headers, sent, &arrived);
        outcome.outgoing.rate = send(&mut client, train, RATE_SETTLE_NS)?.map(rate);
        outcome.incoming.rate = fetch(&mut client, train, RATE_SETTLE_NS)?.map(rate);
    }
    outcome.checksum_failures = client
        .ask(&Request::Hello, |_, _| {})?
        .map(|farewell| ChecksumFailures {
            measuring_side: checksums::failures() - failures_before,
            answering_side: farewell.checksum_failures - greeting.checksum_failures,
        });
    Ok(outcome)
}

/// Keeps its distance when it was held up, so that no burst overfills a queue and looks like loss.
fn loss_train(spec: &LossSpec) -> Train {
    Train {
        id: 0,
        size_bytes: spec.size_bytes,
        interval_ns: spec.interval_ns,
        catches_up: false,
        most: spec.packets,
        // Each wakes late; an interval's own length and 2 ms more for each is far beyond what that takes.
        longest_ns: i64::from(spec.packets) * (2 * spec.interval_ns + 2_000_000),
    }
}

/// Makes up for what it missed, so that the offered rate is kept on average.
fn rate_train(spec: &RateSpec, ip_udp_bytes: usize) -> Train {
    let wire_bits = (spec.mtu_bytes + ETHERNET_BYTES) as u64 * 8;
    let interval_ns = spec
        .offered_bits_per_s
        .map_or(0, |rate| (wire_bits * 1_000_000_000 / rate) as i64);
    Train {
        id: 0,
        size_bytes: spec.mtu_bytes - ip_udp_bytes,
        interval_ns,
        catches_up: interval_ns > 0,
        most: MOST_WAGONS,
        longest_ns: spec.duration_ns,
    }
}

/// Sends a train and requests its counts from the answering side by `settle_ns` after the last; none without an answer.
fn send(client: &mut Client, train: Train, settle_ns: i64) -> Result<Option<Account>, ProbeError> {
    let train = Train {
        id: client.next_train(),
        ..train
    };
    let mut departures = Departures::new(train, client.session, client.to, now_ns());
    while let Some(next_ns) = departures.next_ns() {
        while client.next(next_ns.min(now_ns()))?.is_some() {} // what is left of earlier parts
        client.socket.wait(None, Some((next_ns - now_ns()).max(0)))?;
        departures.send_due(now_ns(), |datagram, to| client.socket.send(datagram, to));
    }
    let settled_ns = now_ns() + settle_ns;
    loop {
        let Some(reply) = client.ask(&Request::Tell { train: train.id }, |_, _| {})? else {
            return Ok(None);
        };
        if reply.arrived.received >= departures.sent() || now_ns() >= settled_ns {
            return Ok(Some((departures.sent(), reply.arrived)));
        }
        while client.next((now_ns() + ASK_EVERY_NS).min(settled_ns))?.is_some() {}
    }
}

/// Has a train sent here and counts what arrives by `settle_ns` after its end is told; none when that is never told.
fn fetch(client: &mut Client, train: Train, settle_ns: i64) -> Result<Option<Account>, ProbeError> {
    let train = Train {
        id: client.next_train(),
        ..train
    };
    let mut reception = Reception {
        train: train.id,
        arrivals: Arrivals::new(client.socket.drops()),
        latest_ns: 0,
    };
    if client
        .ask(&Request::Send { train }, |header, arrival| {
            reception.take(header, arrival);
        })?
        .is_none()
    {
        return Ok(None);
    }
    let over_ns = now_ns() + train.longest_ns + client.settle_ns();
    reception.take_until_pause(client, over_ns)?;
    let sent = loop {
        let tell = Request::Tell { train: train.id };
        let reply = client.ask(&tell, |header, arrival| reception.take(header, arrival))?;
        match reply.map(|reply| reply.sent) {
            None => return Ok(None),
            Some(Some(sent)) => break sent,
            Some(None) => reception.take_until(client, now_ns() + ASK_EVERY_NS)?,
        }
    };
    reception.latest_ns = now_ns();
    while reception.arrivals.counts(0).received < sent && now_ns() < reception.latest_ns + settle_ns {
        let settled_ns = reception.latest_ns + settle_ns;
        reception.take_until(client, (now_ns() + ASK_EVERY_NS).min(settled_ns))?;
    }
    Ok(Some((sent, reception.arrivals.counts(client.socket.drops()))))
}

/// A train that arrives here.
struct Reception {
    train: u32,
    arrivals: Arrivals,
    latest_ns: i64,
}

impl Reception {
    fn take(&mut self, header: &Header, arrival: Arrival) {
        if header.kind == Kind::Wagon && header.train == self.train {
            self.arrivals.count(header.number, arrival.stamp_ns);
            self.latest_ns = now_ns();
        }
    }

    /// Takes what comes without a pause, at most until an instant: a question that joins the train waits in its queue.
    fn take_until_pause(&mut self, client: &mut Client, until_ns: i64) -> Result<(), ProbeError> {
        while now_ns() < until_ns {
            let Some((header, arrival)) = client.next((now_ns() + PAUSE_NS).min(until_ns))? else {
                return Ok(());
            };
            self.take(&header, arrival);
        }
        Ok(())
    }

    fn take_until(&mut self, client: &mut Client, until_ns: i64) -> Result<(), ProbeError> {
        while let Some((header, arrival)) = client.next(until_ns)? {
            self.take(&header, arrival);
        }
        Ok(())
    }
}
