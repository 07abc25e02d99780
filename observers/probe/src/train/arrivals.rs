//! Counts what arrives of a train: each number once, copies, those out of order, and the time they took.

use crate::train::pace::Pace;
use crate::wire::message::{Arrived, MOST_WAGONS};

/// What has arrived of one train so far.
#[derive(Default)]
pub(crate) struct Arrivals {
    seen: Vec<u64>,
    highest: Option<u32>,
    /// Each number once, in the order of arrival.
    order: Vec<u32>,
    first_ns: Option<i64>,
    /// What the socket had dropped before the train began.
    drops_before: u64,
    pace: Pace,
    counts: Arrived,
}

impl Arrivals {
    pub(crate) fn new(drops_before: u64) -> Self {
        Self {
            drops_before,
            ..Self::default()
        }
    }

    /// One arrived.
    pub(crate) fn count(&mut self, number: u32, arrived_ns: i64) {
        if number >= MOST_WAGONS {
            return; // Nobody sent it, and it would have memory taken for all below it.
        }
        let (word, bit) = (number as usize / 64, 1_u64 << (number % 64));
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        if self.seen[word] & bit != 0 {
            self.counts.duplicates += 1;
            return;
        }
        self.seen[word] |= bit;
        self.counts.received += 1;
        if self.highest.is_some_and(|highest| number < highest) {
            self.counts.reordered += 1;
        }
        self.highest = self.highest.max(Some(number));
        self.order.push(number);
        let first_ns = *self.first_ns.get_or_insert(arrived_ns);
        self.counts.span_ns = self.counts.span_ns.max(arrived_ns - first_ns);
        self.pace.count(arrived_ns);
    }

    /// `socket_drops` is what the socket has dropped by now since it was opened.
    pub(crate) fn counts(&self, socket_drops: u64) -> Arrived {
        Arrived {
            interval_ns: self.pace.interval_ns(),
            dropped_by_receiver: socket_drops.saturating_sub(self.drops_before),
            overtaking: overtaking(&self.order),
            ..self.counts
        }
    }
}

/// How many came before a lower number: one frame that overtakes may leave a hundred behind it, and is one.
fn overtaking(order: &[u32]) -> u32 {
    let mut lowest_later = u32::MAX;
    let mut count = 0;
    for &number in order.iter().rev() {
        count += u32::from(number > lowest_later);
        lowest_later = lowest_later.min(number);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_counted_apart_and_order_is_watched() {
        let mut arrivals = Arrivals::new(3);
        for (number, at_ns) in [(0, 100), (2, 120), (1, 140), (1, 150), (200, 160), (2, 900)] {
            arrivals.count(number, at_ns);
        }
        let expected = Arrived {
            received: 4,
            duplicates: 2,
            reordered: 1,
            overtaking: 1,
            span_ns: 60,
            interval_ns: Some(20.0),
            dropped_by_receiver: 2,
        };
        assert_eq!(arrivals.counts(5), expected);
    }

    #[test]
    fn one_that_overtakes_many_is_one_and_they_are_many() {
        let mut arrivals = Arrivals::new(0);
        for number in [9, 0, 1, 2, 8, 3, 10] {
            arrivals.count(number, 0);
        }
        let counts = arrivals.counts(0);
        assert_eq!((counts.reordered, counts.overtaking), (5, 2));
    }

    #[test]
    fn a_number_beyond_any_train_takes_no_memory() {
        let mut arrivals = Arrivals::new(0);
        arrivals.count(u32::MAX, 0);
        assert_eq!((arrivals.counts(0), arrivals.seen.len()), (Arrived::default(), 0));
    }

    #[test]
    fn nothing_arrived_is_all_zeros() {
        assert_eq!(Arrivals::new(7).counts(7), Arrived::default());
    }
}
