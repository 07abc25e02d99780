//! A flow: the messages of one publisher at one subscriber, counted exactly and without a lock.
//!
//! It tells first arrivals from duplicates and orders from reorderings by a bit a message; it stores no sample
//! (`recorder`) and judges no bytes (`receiver`). Any number of threads may call it at once; `models` tries all orders in
//! which they can.

#[cfg(all(test, feature = "loom"))]
mod models;

use crate::recorder::sync::atomic::{
    AtomicI64, AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};
use crate::recorder::sync::yield_now;

/// Of so many duplicates it is kept when they came.
const KEPT_DUPLICATES: usize = if cfg!(feature = "loom") { 2 } else { 1024 };

/// Where in a flow's progress the drain's target begins.
const TARGET_SHIFT: u32 = 32;

/// Kinds of messages: every message, and those of their full size.
const ANY: u8 = 1;
const FULL: u8 = 2;

/// What a message may be the first of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    /// Of all messages, greetings too.
    Message,
    /// Of those that have their full size.
    FullMessage,
}

/// What is known of one publisher's messages at one subscriber.
#[derive(Debug)]
pub(crate) struct Flow {
    /// Of which kinds there has been a message.
    heard: AtomicU8,
    seen: Box<[AtomicU64]>,
    /// One above the highest sequence number of the window so far.
    next: AtomicU32,
    /// Low half: different messages of the window that are counted and recorded, late ones included. High half: at how many
    /// of them the drain is over. One word, so that of those who set either exactly one sees them meet.
    progress: AtomicU64,
    pub(crate) late: AtomicU64,
    pub(crate) duplicates: AtomicU64,
    /// When the first of them came; 0 where none has.
    duplicates_received_ns: Box<[AtomicI64]>,
    pub(crate) reordered: AtomicU64,
    pub(crate) corrupt: AtomicU64,
    pub(crate) negative: AtomicU64,
    pub(crate) beyond_samples: AtomicU64,
}

impl Flow {
    /// A flow of at most `messages` within the window; all memory is reserved and touched here.
    pub(crate) fn new(messages: u32) -> Flow {
        Flow {
            heard: AtomicU8::new(0),
            seen: (0..messages.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            next: AtomicU32::new(0),
            progress: AtomicU64::new(u64::from(u32::MAX) << TARGET_SHIFT),
            late: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
            duplicates_received_ns: (0..KEPT_DUPLICATES).map(|_| AtomicI64::new(0)).collect(),
            reordered: AtomicU64::new(0),
            corrupt: AtomicU64::new(0),
            negative: AtomicU64::new(0),
            beyond_samples: AtomicU64::new(0),
        }
    }

    /// Notes that a message has come, of its full size or a greeting; tells of which kinds it is the first.
    #[inline]
    pub(crate) fn firsts(&self, is_full: bool) -> impl Iterator<Item = First> + use<> {
        let kinds = if is_full { ANY | FULL } else { ANY };
        let news = match self.heard.load(Relaxed) & kinds {
            known if known == kinds => 0,
            _ => kinds & !self.heard.fetch_or(kinds, Relaxed),
        };
        [(ANY, First::Message), (FULL, First::FullMessage)]
            .into_iter()
            .filter_map(move |(kind, first)| (news & kind != 0).then_some(first))
    }

    /// Notes a message of the window; false where it came before (a duplicate) or can't belong to the window.
    #[inline]
    pub(crate) fn admit(&self, sequence: u32, received_ns: i64) -> bool {
        let Some(word) = self.seen.get(sequence as usize / 64) else {
            self.corrupt.fetch_add(1, Relaxed);
            return false;
        };
        let bit = 1 << (sequence % 64);
        if word.fetch_or(bit, Relaxed) & bit != 0 {
            // Of a flow that was closed this counts what is not looked at any more: see `close`.
            fence(Acquire);
            let earlier = self.duplicates.fetch_add(1, Relaxed);
            if let Some(place) = self.duplicates_received_ns.get(earlier as usize) {
                place.store(received_ns, Relaxed);
            }
            return false;
        }
        if self.next.fetch_max(sequence + 1, Relaxed) > sequence {
            self.reordered.fetch_add(1, Relaxed);
        }
        true
    }

    /// Notes that an admitted message is counted and recorded; true where it was the last that the drain waits for.
    #[inline]
    pub(crate) fn finish(&self) -> bool {
        // Release: whoever sees the new number sees the counts and the sample too.
        let progress = self.progress.fetch_add(1, Release) + 1;
        progress >> TARGET_SHIFT == progress & u64::from(u32::MAX)
    }

    /// Sets how many messages the drain waits for; true where they are already there, and then no [`Self::finish`] says so.
    pub(crate) fn expect(&self, messages: u32) -> bool {
        let target = u64::from(messages) << TARGET_SHIFT;
        let mut progress = self.progress.load(Relaxed);
        while let Err(changed) =
            self.progress
                .compare_exchange_weak(progress, target | progress & u64::from(u32::MAX), Relaxed, Relaxed)
        {
            progress = changed;
        }
        progress as u32 >= messages
    }

    /// How many different messages of the window have come, late ones included.
    pub(crate) fn arrived(&self) -> u32 {
        self.progress.load(Acquire) as u32
    }

    /// Takes no message in any more, waits for those that are being counted, and tells what all of them came to.
    ///
    /// To be called once; afterwards every recording of an admitted message happens before what the caller does.
    pub(crate) fn close(&self) -> FlowCounts {
        // First, as every message looks like a duplicate once its bit is set (Release, with the fence in `admit`).
        let (duplicates, duplicates_received_ns) = (self.duplicates.load(Relaxed), self.duplicates_received_ns());
        let close = |word: &AtomicU64| word.swap(u64::MAX, Release).count_ones();
        let admitted: u32 = self.seen.iter().map(close).sum();
        while self.arrived() < admitted {
            yield_now();
        }
        FlowCounts {
            arrived: admitted,
            late: self.late.load(Relaxed),
            duplicates,
            duplicates_received_ns,
            reordered: self.reordered.load(Relaxed),
            corrupt: self.corrupt.load(Relaxed),
            negative: self.negative.load(Relaxed),
            beyond_samples: self.beyond_samples.load(Relaxed),
        }
    }

    /// When the first of the duplicates came, as many as are kept.
    fn duplicates_received_ns(&self) -> Vec<u64> {
        self.duplicates_received_ns
            .iter()
            .map(|place| place.load(Relaxed))
            .take_while(|received_ns| *received_ns > 0)
            .map(|received_ns| received_ns as u64)
            .collect()
    }
}

/// What a closed flow has counted.
#[derive(Debug)]
pub(crate) struct FlowCounts {
    /// Different messages of the window, late ones included.
    pub(crate) arrived: u32,
    pub(crate) late: u64,
    pub(crate) duplicates: u64,
    pub(crate) duplicates_received_ns: Vec<u64>,
    pub(crate) reordered: u64,
    pub(crate) corrupt: u64,
    pub(crate) negative: u64,
    pub(crate) beyond_samples: u64,
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_counted_and_not_admitted_again() {
        let flow = Flow::new(100);
        assert_eq!(
            [flow.admit(3, 50), flow.admit(3, 60), flow.admit(3, 70)],
            [true, false, false]
        );
        assert_eq!(flow.duplicates.load(Relaxed), 2);
        assert_eq!(flow.duplicates_received_ns(), [60, 70]);
    }

    #[test]
    fn duplicates_beyond_those_whose_instant_is_kept_are_counted_all_the_same() {
        let flow = Flow::new(1);
        for received_ns in 1..=KEPT_DUPLICATES as i64 + 3 {
            flow.admit(0, received_ns);
        }
        assert_eq!(flow.duplicates.load(Relaxed), KEPT_DUPLICATES as u64 + 2);
        assert_eq!(flow.duplicates_received_ns().len(), KEPT_DUPLICATES);
    }

    #[test]
    fn a_message_is_reordered_when_a_later_one_came_before_it() {
        let flow = Flow::new(100);
        for sequence in [0, 2, 1, 5, 3, 4, 6] {
            assert!(flow.admit(sequence, 1));
        }
        assert_eq!(flow.reordered.load(Relaxed), 3);
    }

    #[test]
    fn a_sequence_number_beyond_the_window_is_corrupt() {
        let flow = Flow::new(64);
        assert!(!flow.admit(64, 1));
        assert_eq!((flow.corrupt.load(Relaxed), flow.arrived()), (1, 0));
    }

    #[test]
    fn the_drain_is_over_with_the_last_expected_message_whether_it_came_before_or_comes_after() {
        let flow = Flow::new(100);
        flow.admit(0, 1);
        assert!(!flow.finish());
        assert!(!flow.expect(2));
        flow.admit(1, 1);
        assert!(flow.finish());
        assert!(flow.expect(2));
    }

    #[test]
    fn a_closed_flow_tells_what_it_counted_and_takes_in_no_more() {
        let flow = Flow::new(100);
        for sequence in [0, 2, 1, 1] {
            if flow.admit(sequence, 1) {
                flow.finish();
            }
        }
        let counts = flow.close();
        assert_eq!((counts.arrived, counts.reordered, counts.duplicates), (3, 1, 1));
        assert!(!flow.admit(3, 1));
        assert_eq!(flow.arrived(), 3);
    }

    #[test]
    fn only_the_very_first_message_of_a_kind_is_first() {
        let flow = Flow::new(1);
        let firsts = |is_full| flow.firsts(is_full).collect::<Vec<_>>();
        assert_eq!(firsts(false), [First::Message]);
        assert_eq!(firsts(false), []);
        assert_eq!(firsts(true), [First::FullMessage]);
        assert_eq!(firsts(true), []);
    }

    #[test]
    fn a_full_message_may_be_the_first_of_all() {
        let flow = Flow::new(1);
        let firsts: Vec<_> = flow.firsts(true).collect();
        assert_eq!(firsts, [First::Message, First::FullMessage]);
        assert_eq!(flow.firsts(false).count(), 0);
    }
}
