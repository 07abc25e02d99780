//! Sends a train of numbered datagrams at its instants; a sender that can't go on says so instead of waiting.

use std::net::SocketAddr;

use crate::wire::datagram::{HEADER_BYTES, Header, Kind, LARGEST_BYTES};
use crate::wire::message::Train;

/// Datagrams that are sent before others get their turn.
const PORTION: u32 = 64;
/// No measurement sends for longer, whoever asks for it.
const LONGEST_NS: i64 = 3_600_000_000_000;
/// How soon to try again when the socket took nothing.
const RETRY_NS: i64 = 100_000;

/// A train on its way.
pub(crate) struct Departures {
    train: Train,
    session: u64,
    to: SocketAddr,
    end_ns: i64,
    due_ns: i64,
    held_until_ns: i64,
    sent: u32,
    datagram: Vec<u8>,
}

impl Departures {
    pub(crate) fn new(train: Train, session: u64, to: SocketAddr, begin_ns: i64) -> Self {
        let size_bytes = train.size_bytes.clamp(HEADER_BYTES, LARGEST_BYTES);
        Self {
            train,
            session,
            to,
            end_ns: begin_ns + train.longest_ns.clamp(0, LONGEST_NS),
            due_ns: begin_ns,
            held_until_ns: begin_ns,
            sent: 0,
            datagram: (0..size_bytes).map(|at| (at * 167) as u8).collect(),
        }
    }

    pub(crate) fn train(&self) -> u32 {
        self.train.id
    }

    /// When there is something to do again; none when the train has ended.
    pub(crate) fn next_ns(&self) -> Option<i64> {
        let next_ns = self.due_ns.max(self.held_until_ns);
        (self.sent < self.train.most && next_ns < self.end_ns).then_some(next_ns)
    }

    pub(crate) fn sent(&self) -> u32 {
        self.sent
    }

    /// Gives what is due to `send`, which says whether the socket took it.
    pub(crate) fn send_due(&mut self, now_ns: i64, mut send: impl FnMut(&[u8], SocketAddr) -> bool) {
        for _ in 0..PORTION {
            if self.next_ns().is_none_or(|next_ns| next_ns > now_ns) {
                return;
            }
            let Train {
                id: train,
                interval_ns,
                catches_up,
                ..
            } = self.train;
            Header {
                kind: Kind::Wagon,
                session: self.session,
                train,
                number: self.sent,
                sent_ns: 0,
            }
            .write(&mut self.datagram);
            if !send(&self.datagram, self.to) {
                self.held_until_ns = now_ns + RETRY_NS;
                return;
            }
            self.sent += 1;
            let from_ns = if catches_up { self.due_ns } else { now_ns };
            self.due_ns = from_ns.saturating_add(interval_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn departures(catches_up: bool, most: u32) -> Departures {
        let train = Train {
            id: 4,
            size_bytes: 64,
            interval_ns: 100,
            catches_up,
            most,
            longest_ns: 10_000_000,
        };
        Departures::new(train, 1, ([127, 0, 0, 1], 9).into(), 1000)
    }

    /// The numbers that leave when there is a chance to send at these instants.
    fn numbers(departures: &mut Departures, instants_ns: &[i64]) -> Vec<Vec<u32>> {
        let mut sent = |now_ns: &i64| {
            let mut numbers = Vec::new();
            departures.send_due(*now_ns, |datagram, _| {
                numbers.push(Header::read(datagram).unwrap().number);
                true
            });
            numbers
        };
        instants_ns.iter().map(&mut sent).collect()
    }

    proptest! {
        #[test]
        fn whatever_train_is_asked_for_has_an_end_and_datagrams_that_fit(
            (id, size_bytes, most) in any::<(u32, usize, u32)>(),
            (interval_ns, longest_ns) in (prop_oneof![any::<i64>(), -5..100i64], any::<i64>()),
            catches_up in any::<bool>(),
            waits in proptest::collection::vec(0..1_000_000_000_000i64, 1..20),
        ) {
            let train = Train { id, size_bytes, interval_ns, catches_up, most, longest_ns };
            let begin_ns = 1_000_000_000;
            let mut departures = Departures::new(train, 1, ([127, 0, 0, 1], 9).into(), begin_ns);
            let mut now_ns = begin_ns;
            for wait_ns in waits {
                now_ns += wait_ns;
                let mut sent = 0;
                departures.send_due(now_ns, |datagram, _| {
                    sent += 1;
                    (HEADER_BYTES..=LARGEST_BYTES).contains(&datagram.len())
                });
                prop_assert!(sent <= PORTION);
            }
            prop_assert!(departures.next_ns().is_none_or(|next_ns| next_ns < begin_ns + LONGEST_NS));
        }
    }

    #[test]
    fn one_that_catches_up_makes_up_for_what_it_missed() {
        let sent = numbers(&mut departures(true, 5), &[999, 1000, 1050, 1310, 9000]);
        assert_eq!(sent, [vec![], vec![0], vec![], vec![1, 2, 3], vec![4]]);
    }

    #[test]
    fn one_that_does_not_keeps_its_distance() {
        let sent = numbers(&mut departures(false, 5), &[1000, 1310, 1400, 1410]);
        assert_eq!(sent, [vec![0], vec![1], vec![], vec![2]]);
    }

    #[test]
    fn a_train_has_an_end_whatever_is_asked_for() {
        let asked = departures(true, 5).train;
        let begin_ns = 1_000_000_000;
        let begun = |train| Departures::new(train, 1, ([127, 0, 0, 1], 9).into(), begin_ns);
        let mut rare = begun(Train {
            interval_ns: i64::MAX,
            ..asked
        });
        assert_eq!(numbers(&mut rare, &[begin_ns, begin_ns + 1]), [vec![0], vec![]]);
        let mut for_ever = begun(Train {
            longest_ns: i64::MAX,
            ..asked
        });
        assert_eq!(for_ever.next_ns(), Some(begin_ns));
        for_ever.send_due(begin_ns + LONGEST_NS - 1, |_, _| false);
        assert_eq!(for_ever.next_ns(), None);
    }

    #[test]
    fn a_number_that_was_not_taken_is_sent_later_and_the_end_comes_in_any_case() {
        let mut departures = departures(true, 5);
        departures.send_due(1000, |_, _| false);
        assert_eq!((departures.sent(), departures.next_ns()), (0, Some(1000 + RETRY_NS)));
        assert_eq!(numbers(&mut departures, &[1000 + RETRY_NS]), [[0, 1, 2, 3, 4]]);
        assert_eq!(departures.next_ns(), None);
        let mut refused = self::departures(true, 5);
        refused.send_due(1000 + 10_000_000 - 1, |_, _| false);
        assert_eq!((refused.sent(), refused.next_ns()), (0, None));
    }
}
