//! Round trips of small datagrams, from handing one to the socket to holding its answer.

use middlemark_runtime::clock::now_ns;
use serde::Serialize;

use crate::client::Client;
use crate::error::ProbeError;
use crate::spec::RoundTripSpec;
use crate::statistics::quantile;
use crate::wire::datagram::{Header, Kind};

/// What came of the pings. A figure is null when no answer came.
#[derive(Debug, Serialize)]
pub(crate) struct RoundTrip {
    pub(crate) size_bytes: usize,
    pub(crate) sent: u32,
    pub(crate) n: usize,
    pub(crate) lost: u32,
    pub(crate) duplicates: u32,
    pub(crate) min_ns: Option<i64>,
    pub(crate) p50_ns: Option<i64>,
    pub(crate) p90_ns: Option<i64>,
    pub(crate) p99_ns: Option<i64>,
    pub(crate) max_ns: Option<i64>,
}

/// Sends pings at their interval, however many answers are still under way.
pub(crate) fn measure(client: &mut Client, spec: &RoundTripSpec) -> Result<RoundTrip, ProbeError> {
    let mut pings = Pings {
        train: client.next_train(),
        times_ns: vec![None; spec.pings as usize],
        answered: 0,
        duplicates: 0,
    };
    let mut datagram = vec![0x5a; spec.size_bytes];
    let mut sent = 0;
    for number in 0..spec.pings {
        let sent_ns = now_ns();
        let header = Header {
            kind: Kind::Ping,
            session: client.session,
            train: pings.train,
            number,
            sent_ns,
        };
        header.write(&mut datagram);
        sent += u32::from(client.socket.send(&datagram, client.to));
        while let Some((header, _)) = client.next(sent_ns + spec.interval_ns)? {
            pings.answer(&header);
        }
    }
    let deadline_ns = now_ns() + client.settle_ns();
    while pings.answered < sent {
        let Some((header, _)) = client.next(deadline_ns)? else {
            break;
        };
        pings.answer(&header);
    }
    Ok(pings.summary(spec.size_bytes, sent))
}

struct Pings {
    train: u32,
    times_ns: Vec<Option<i64>>,
    answered: u32,
    duplicates: u32,
}

impl Pings {
    fn answer(&mut self, header: &Header) {
        let now_ns = now_ns();
        if header.kind != Kind::Pong || header.train != self.train {
            return;
        }
        match self.times_ns.get_mut(header.number as usize) {
            Some(Some(_)) => self.duplicates += 1,
            Some(time_ns) => {
                *time_ns = Some(now_ns - header.sent_ns);
                self.answered += 1;
            }
            None => {}
        }
    }

    fn summary(&self, size_bytes: usize, sent: u32) -> RoundTrip {
        let mut sorted: Vec<i64> = self.times_ns.iter().flatten().copied().collect();
        sorted.sort_unstable();
        let [min_ns, p50_ns, p90_ns, p99_ns, max_ns] = [0.0, 0.5, 0.9, 0.99, 1.0].map(|q| quantile(&sorted, q));
        RoundTrip {
            size_bytes,
            sent,
            n: sorted.len(),
            lost: sent - self.answered,
            duplicates: self.duplicates,
            min_ns,
            p50_ns,
            p90_ns,
            p99_ns,
            max_ns,
        }
    }
}
