//! The wire's own time: when the last bit of a frame leaves at a given rate, and whether it still finds room to wait.
//!
//! It computes with arrival instants alone, so a relay that wakes late still keeps the rate exactly.

use std::collections::VecDeque;

/// Preamble and start (8), frame check sequence (4) and the gap between frames (12): on the wire, not in a frame's bytes.
pub(crate) const OVERHEAD_BYTES: usize = 24;
/// A shorter frame is padded on the wire.
const SHORTEST_FRAME_BYTES: usize = 60;
const NS_PER_S: u128 = 1_000_000_000;

/// One direction's serialiser and the queue before it.
pub(crate) struct Serialiser {
    free_at_ns: i64,
    /// What integer nanoseconds left over, in bits × ns/s, so that a rate is exact over many frames.
    carry: u128,
    departures_ns: VecDeque<i64>,
}

impl Serialiser {
    pub(crate) fn new(queue_frames: usize) -> Self {
        Self {
            free_at_ns: i64::MIN,
            carry: 0,
            departures_ns: VecDeque::with_capacity(queue_frames + 1),
        }
    }

    /// When a frame that arrives now has left; none when the queue is full.
    pub(crate) fn pass(
        &mut self,
        frame_bytes: usize,
        arrived_ns: i64,
        rate_bits_per_s: Option<u64>,
        queue_frames: usize,
    ) -> Option<i64> {
        let Some(rate) = rate_bits_per_s else {
            return Some(arrived_ns);
        };
        while self
            .departures_ns
            .front()
            .is_some_and(|&departure_ns| departure_ns <= arrived_ns)
        {
            self.departures_ns.pop_front();
        }
        // One is being serialised, the others wait.
        if self.departures_ns.len() > queue_frames {
            return None;
        }
        if self.free_at_ns < arrived_ns {
            (self.free_at_ns, self.carry) = (arrived_ns, 0);
        }
        let bits = wire_bytes(frame_bytes) as u128 * 8;
        let time = bits * NS_PER_S + self.carry;
        self.carry = time % u128::from(rate);
        self.free_at_ns += (time / u128::from(rate)) as i64;
        self.departures_ns.push_back(self.free_at_ns);
        Some(self.free_at_ns)
    }

    /// Another rate or queue holds from the next frame on.
    pub(crate) fn change(&mut self, queue_frames: usize) {
        self.carry = 0; // it was a remainder of the rate before
        self.departures_ns
            .reserve((queue_frames + 1).saturating_sub(self.departures_ns.len()));
    }
}

/// What a frame takes up on an Ethernet wire.
pub(crate) fn wire_bytes(frame_bytes: usize) -> usize {
    frame_bytes.max(SHORTEST_FRAME_BYTES) + OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_takes_its_time_on_the_wire() {
        let mut serialiser = Serialiser::new(10);
        assert_eq!(
            serialiser.pass(1514, 1000, Some(1_000_000_000), 10),
            Some(1000 + 12_304)
        );
    }

    #[test]
    fn frames_that_arrive_together_leave_one_after_the_other_exactly_at_the_rate() {
        let mut serialiser = Serialiser::new(100_000);
        let mut last_ns = 0;
        for _ in 0..70_000 {
            last_ns = serialiser.pass(100, 0, Some(700_000_003), 100_000).unwrap();
        }
        let exact_ns = 70_000.0 * 124.0 * 8.0 * 1e9 / 700_000_003.0;
        assert!((last_ns as f64 - exact_ns).abs() <= 1.0, "{last_ns} {exact_ns}");
    }

    #[test]
    fn an_idle_wire_saves_nothing_up() {
        let mut serialiser = Serialiser::new(10);
        serialiser.pass(60, 0, Some(1_000_000), 10);
        assert_eq!(
            serialiser.pass(60, 5_000_000, Some(1_000_000), 10),
            Some(5_000_000 + 84 * 8000)
        );
    }

    #[test]
    fn the_queue_drops_its_tail_and_takes_again_when_one_has_left() {
        let mut serialiser = Serialiser::new(2);
        let mut pass = |at_ns| serialiser.pass(101, at_ns, Some(1_000_000_000), 2);
        assert_eq!(
            [pass(0), pass(0), pass(0), pass(0)],
            [Some(1000), Some(2000), Some(3000), None]
        );
        assert_eq!([pass(999), pass(1000), pass(1000)], [None, Some(4000), None]);
    }

    #[test]
    fn without_a_rate_nothing_waits() {
        let mut serialiser = Serialiser::new(1);
        assert!((0..100).all(|_| serialiser.pass(1514, 5, None, 1) == Some(5)));
    }
}
