//! What a measurement found: one line of JSON.

use serde::Serialize;

use crate::round_trip::RoundTrip;
use crate::statistics::{Fraction, fraction};
use crate::wire::datagram::ETHERNET_BYTES;
use crate::wire::message::{Arrived, Train};

/// The result. A part is null where it wasn't requested, or where the answering side sent no counts.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Outcome {
    /// The answering side answered at all; if not, nothing else was measured.
    pub(crate) reachable: bool,
    pub(crate) round_trip: Option<RoundTrip>,
    /// From the measuring to the answering side.
    pub(crate) outgoing: Direction,
    /// From the answering to the measuring side.
    pub(crate) incoming: Direction,
    /// Datagrams discarded for a wrong checksum during the measurement, at either side.
    pub(crate) checksum_failures: Option<ChecksumFailures>,
}

/// One direction's figures.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Direction {
    pub(crate) loss: Option<Loss>,
    pub(crate) rate: Option<Rate>,
}

/// By the numbers of the datagrams; one that failed its checksum is lost.
#[derive(Debug, Serialize)]
pub(crate) struct Loss {
    pub(crate) sent: u32,
    pub(crate) received: u32,
    pub(crate) lost: u32,
    /// Lost of sent, with Wilson's 95 % interval.
    pub(crate) fraction: Option<Fraction>,
    pub(crate) duplicates: u64,
    pub(crate) reordered: u64,
    pub(crate) overtaking: u32,
    pub(crate) dropped_by_receiver: u64,
}

/// At the receiving side, while nothing held the train up: the median over equal pieces of it. Null when not two arrived.
#[derive(Debug, Serialize)]
pub(crate) struct Rate {
    pub(crate) sent: u32,
    pub(crate) received: u32,
    /// What the sender really offered, on the wire; below what was requested, it had too little CPU time.
    pub(crate) offered_bits_per_s: f64,
    /// From the first arrival to the last.
    pub(crate) span_ns: i64,
    /// UDP payload.
    pub(crate) goodput_bits_per_s: Option<f64>,
    /// With all headers, preamble, frame check sequence and gap.
    pub(crate) wire_bits_per_s: Option<f64>,
    /// The same over the whole span, pauses included.
    pub(crate) mean_wire_bits_per_s: Option<f64>,
    pub(crate) dropped_by_receiver: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct ChecksumFailures {
    pub(crate) measuring_side: u64,
    pub(crate) answering_side: u64,
}

impl Loss {
    pub(crate) fn of(sent: u32, arrived: &Arrived) -> Self {
        let lost = sent.saturating_sub(arrived.received);
        Self {
            sent,
            received: arrived.received,
            lost,
            fraction: fraction(lost, sent),
            duplicates: arrived.duplicates,
            reordered: arrived.reordered,
            overtaking: arrived.overtaking,
            dropped_by_receiver: arrived.dropped_by_receiver,
        }
    }
}

impl Rate {
    /// `ip_udp_bytes` are the headers before each payload.
    pub(crate) fn of(train: &Train, ip_udp_bytes: usize, sent: u32, arrived: &Arrived) -> Self {
        let bits_per_s = |bytes: usize, interval_ns: f64| bytes as f64 * 8e9 / interval_ns;
        let wire_bytes = train.size_bytes + ip_udp_bytes + ETHERNET_BYTES;
        let interval_ns = arrived.interval_ns.filter(|&interval_ns| interval_ns > 0.0);
        let mean_ns = arrived.span_ns as f64 / f64::from(arrived.received.saturating_sub(1));
        Self {
            sent,
            received: arrived.received,
            offered_bits_per_s: bits_per_s(wire_bytes, train.longest_ns as f64 / f64::from(sent)),
            span_ns: arrived.span_ns,
            goodput_bits_per_s: interval_ns.map(|interval_ns| bits_per_s(train.size_bytes, interval_ns)),
            wire_bits_per_s: interval_ns.map(|interval_ns| bits_per_s(wire_bytes, interval_ns)),
            mean_wire_bits_per_s: (mean_ns.is_finite() && mean_ns > 0.0).then(|| bits_per_s(wire_bytes, mean_ns)),
            dropped_by_receiver: arrived.dropped_by_receiver,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_between_pauses_and_the_mean_has_them_in_it() {
        let train = Train {
            id: 1,
            size_bytes: 1472,
            interval_ns: 0,
            catches_up: true,
            most: 9,
            longest_ns: 147_648,
        };
        let arrived = Arrived {
            received: 11,
            interval_ns: Some(12_304.0),
            span_ns: 246_080,
            ..Arrived::default()
        };
        let rate = Rate::of(&train, 28, 12, &arrived);
        assert!((rate.wire_bits_per_s.unwrap() - 1e9).abs() < 1.0);
        assert!((rate.offered_bits_per_s - 1e9).abs() < 1.0);
        assert!((rate.mean_wire_bits_per_s.unwrap() - 0.5e9).abs() < 1.0);
        assert!((rate.goodput_bits_per_s.unwrap() - 1e9 * 1472.0 / 1538.0).abs() < 1.0);
        let none = Rate::of(&train, 28, 0, &Arrived::default());
        assert!(none.offered_bits_per_s.abs() < 1e-9);
        assert!(none.wire_bits_per_s.is_none() && none.mean_wire_bits_per_s.is_none());
    }

    #[test]
    fn lost_is_what_was_sent_and_did_not_arrive() {
        let loss = Loss::of(
            1000,
            &Arrived {
                received: 990,
                duplicates: 4,
                ..Arrived::default()
            },
        );
        assert_eq!((loss.lost, loss.duplicates), (10, 4));
        assert!(
            loss.fraction
                .is_some_and(|fraction| fraction.low < 0.01 && 0.01 < fraction.high)
        );
    }
}
