//! One direction of the link: takes frames in, decides what becomes of them, gives them out when they are due.
//!
//! A frame passes queue and serialiser first, and is lost, delayed or damaged behind them: a lost frame has used the
//! link, as on a real medium. It reads no clock and touches no socket (`relay`).

use hdrhistogram::Histogram;

use crate::link::chance::Chance;
use crate::link::counts::{Counts, Lateness};
use crate::link::fate::Fate;
use crate::link::impairment::Impairment;
use crate::link::pool::{Pool, Slot};
use crate::link::schedule::Schedule;
use crate::link::serialiser::Serialiser;

/// No lateness is longer than this (ten minutes) without the machine having slept.
const LONGEST_LATENESS_NS: u64 = 600_000_000_000;

pub(crate) struct Path {
    impairment: Impairment,
    chance: Chance,
    serialiser: Serialiser,
    pool: Pool,
    schedule: Schedule,
    latest_arrival_ns: i64,
    latest_due_ns: i64,
    counts: Counts,
    lateness: Histogram<u64>,
}

impl Path {
    pub(crate) fn new(impairment: Impairment, chance: Chance, frames: usize, frame_bytes: usize) -> Self {
        Self {
            serialiser: Serialiser::new(impairment.queue_frames),
            impairment,
            chance,
            pool: Pool::new(frames, frame_bytes),
            schedule: Schedule::new(frames),
            latest_arrival_ns: i64::MIN,
            latest_due_ns: i64::MIN,
            counts: Counts::default(),
            lateness: Histogram::new_with_bounds(1, LONGEST_LATENESS_NS, 3).expect("the bounds are constant"),
        }
    }

    /// From the next frame on; those under way stay as they were.
    pub(crate) fn change(&mut self, impairment: Impairment) {
        self.serialiser.change(impairment.queue_frames);
        self.impairment = impairment;
    }

    /// Takes a frame that arrived at an instant.
    pub(crate) fn accept(&mut self, frame: &mut [u8], arrived_ns: i64) {
        let frame_bytes = frame.len();
        self.counts.frames_in += 1;
        self.counts.bytes_in += frame_bytes as u64;
        // Stamps are converted between two clocks and may be some ns out of order, the frames are not.
        let arrived_ns = arrived_ns.max(self.latest_arrival_ns);
        self.latest_arrival_ns = arrived_ns;
        // Also of a frame that is dropped, so that chance goes on as it would without a queue.
        let mut fate = Fate::of(frame);
        self.impairment.decide(&mut fate, &mut self.chance);
        let Impairment {
            rate_bits_per_s,
            queue_frames,
            ..
        } = self.impairment;
        let Some(left_ns) = self
            .serialiser
            .pass(frame_bytes, arrived_ns, rate_bits_per_s, queue_frames)
        else {
            self.counts.dropped_by_queue += 1;
            return;
        };
        if fate.lost {
            self.counts.dropped_by_loss += 1;
            return;
        }
        let Some(slot) = self.pool.put(fate.frame) else {
            self.counts.dropped_by_memory += 1;
            return;
        };
        self.send_on(slot, left_ns, &fate);
    }

    fn send_on(&mut self, slot: Slot, left_ns: i64, fate: &Fate<'_>) {
        let due_ns = self.due_ns(left_ns, fate);
        self.counts.corrupted += u64::from(fate.corrupted);
        if due_ns < self.latest_due_ns {
            self.counts.reordered += 1;
        }
        self.latest_due_ns = self.latest_due_ns.max(due_ns);
        self.schedule.enter(due_ns, slot);
        for _ in 0..fate.copies {
            self.counts.duplicated += 1;
            match self.pool.put(fate.frame) {
                Some(copy) => self.schedule.enter(due_ns, copy),
                None => self.counts.dropped_by_memory += 1,
            }
        }
    }

    fn due_ns(&self, left_ns: i64, fate: &Fate<'_>) -> i64 {
        if fate.overtakes {
            return left_ns;
        }
        let due_ns = left_ns + fate.delay_ns;
        if self.impairment.keep_order {
            due_ns.max(self.latest_due_ns)
        } else {
            due_ns
        }
    }

    /// When the next frame is due.
    pub(crate) fn next_ns(&self) -> Option<i64> {
        self.schedule.next_ns()
    }

    /// Gives the next frame to `send` when it is due; `send` says whether the interface took it.
    pub(crate) fn release(&mut self, now_ns: i64, send: impl FnOnce(&[u8]) -> bool) -> bool {
        let Some((due_ns, slot)) = self.schedule.take(now_ns) else {
            return false;
        };
        let frame = self.pool.frame(slot);
        if send(frame) {
            self.counts.frames_out += 1;
            self.counts.bytes_out += frame.len() as u64;
            self.lateness.saturating_record((now_ns - due_ns) as u64);
        } else {
            self.counts.refused_by_interface += 1;
        }
        self.pool.release(slot);
        true
    }

    /// A frame that couldn't be read whole.
    pub(crate) fn refuse_too_long(&mut self, frame_bytes: usize) {
        self.counts.frames_in += 1;
        self.counts.bytes_in += frame_bytes as u64;
        self.counts.dropped_too_long += 1;
    }

    pub(crate) fn note_unfinished_checksum(&mut self) {
        self.counts.unfinished_checksums += 1;
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.schedule.len() as u64
    }

    pub(crate) fn lateness(&self) -> Lateness {
        Lateness::of(&self.lateness)
    }
}

#[cfg(test)]
mod tests;
