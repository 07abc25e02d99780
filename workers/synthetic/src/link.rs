//! The link from one publisher to one subscriber: when each message leaves it, and what is under way.
//!
//! Copies of messages wait here in buffers that are used again and again, so that in a steady state nothing is
//! allocated; it reads no clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::fate::{Fate, Identity};
use crate::program::Program;

/// So many bytes may be under way on one link; beyond it messages wait in the ring, and then at the publisher.
const UNDER_WAY_BYTES: usize = 256 << 20;

/// A message under way. The order breaks ties, first come first released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    due_ns: i64,
    order: u64,
    buffer: usize,
}

pub(crate) struct Link {
    program: Program,
    message_bytes: usize,
    /// Before this no message is released.
    opens_ns: i64,
    /// Before this no message of the full size is; none before the first was sent.
    opens_in_full_ns: Option<i64>,
    /// When the link has passed on all that it was given.
    free_ns: i64,
    waiting: BinaryHeap<Reverse<Waiting>>,
    order: u64,
    buffers: Vec<Vec<u8>>,
    unused: Vec<usize>,
}

impl Link {
    /// A link that begins now.
    pub(crate) fn new(program: Program, message_bytes: usize, now_ns: i64) -> Link {
        Link {
            program,
            message_bytes,
            opens_ns: now_ns + program.first_message_ns,
            opens_in_full_ns: None,
            free_ns: 0,
            waiting: BinaryHeap::new(),
            order: 0,
            buffers: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// Whether it takes another message now.
    pub(crate) fn has_room(&self) -> bool {
        // A duplicate may need a second buffer.
        self.waiting.len() * self.message_bytes < UNDER_WAY_BYTES
    }

    /// Takes a message in; messages come in the order in which they were sent.
    pub(crate) fn take_in(&mut self, identity: Identity, sent_ns: i64, is_greeting: bool, message: &[u8]) {
        let opens_ns = if is_greeting {
            self.opens_ns
        } else {
            self.opens_in_full_ns(sent_ns)
        };
        let fate = Fate::of(&self.program, identity);
        self.free_ns = sent_ns.max(self.free_ns) + transmission_ns(&self.program, message.len());
        let left_ns = if self.program.bandwidth_bits_per_s == 0 {
            sent_ns
        } else {
            self.free_ns
        };
        if fate.lost {
            return;
        }
        self.hold((left_ns + fate.delay_ns).max(opens_ns), message);
        if fate.duplicated {
            let again_ns = left_ns + fate.delay_ns + self.program.duplicate_delay_ns;
            self.hold(again_ns.max(opens_ns), message);
        }
    }

    fn opens_in_full_ns(&mut self, sent_ns: i64) -> i64 {
        let after_first_ns = sent_ns + self.program.first_full_message_ns;
        self.opens_ns.max(*self.opens_in_full_ns.get_or_insert(after_first_ns))
    }

    fn hold(&mut self, due_ns: i64, message: &[u8]) {
        let buffer = self.unused.pop().unwrap_or_else(|| {
            self.buffers.push(Vec::with_capacity(self.message_bytes));
            self.buffers.len() - 1
        });
        self.buffers[buffer].clear();
        self.buffers[buffer].extend_from_slice(message);
        self.order += 1;
        self.waiting.push(Reverse(Waiting {
            due_ns,
            order: self.order,
            buffer,
        }));
    }

    /// When the next message is due.
    pub(crate) fn next_due_ns(&self) -> Option<i64> {
        self.waiting.peek().map(|Reverse(waiting)| waiting.due_ns)
    }

    /// Hands the next message to `see`.
    pub(crate) fn release(&mut self, see: impl FnOnce(&[u8])) {
        if let Some(Reverse(waiting)) = self.waiting.pop() {
            see(&self.buffers[waiting.buffer]);
            self.unused.push(waiting.buffer);
        }
    }
}

fn transmission_ns(program: &Program, message_bytes: usize) -> i64 {
    match program.bandwidth_bits_per_s {
        0 => 0,
        bandwidth => (message_bytes as u64 * 8 * 1_000_000_000 / bandwidth) as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Distribution;

    const PROGRAM: Program = Program {
        seed: 1,
        distribution: Distribution::Fixed,
        delay_ns: 1000,
        jitter_ns: 0,
        second_mode_per_million: 0,
        loss_per_million: 0,
        duplicate_per_million: 0,
        duplicate_delay_ns: 0,
        reorder_per_million: 0,
        reorder_delay_ns: 0,
        bandwidth_bits_per_s: 0,
        release_spin_ns: 0,
        first_message_ns: 0,
        first_full_message_ns: 0,
    };

    /// What comes out, with its due time, of messages sent at these instants.
    fn released(program: Program, sent_ns: &[i64]) -> Vec<(i64, u8)> {
        let mut link = Link::new(program, 1, 0);
        for (sequence, sent_ns) in (0..).zip(sent_ns) {
            let identity = Identity {
                channel: 0,
                publisher: 0,
                subscriber: 0,
                sequence,
            };
            link.take_in(identity, *sent_ns, false, &[sequence as u8]);
        }
        let mut released = Vec::new();
        while let Some(due_ns) = link.next_due_ns() {
            link.release(|message| released.push((due_ns, message[0])));
        }
        assert_eq!(link.unused.len(), link.buffers.len());
        released
    }

    #[test]
    fn messages_come_out_a_delay_after_they_were_sent() {
        assert_eq!(released(PROGRAM, &[0, 5, 5]), [(1000, 0), (1005, 1), (1005, 2)]);
    }

    #[test]
    fn the_first_messages_come_out_when_it_was_programmed() {
        const BEGAN_NS: i64 = 50;
        let program = Program {
            first_message_ns: 5000,
            first_full_message_ns: 3000,
            ..PROGRAM
        };
        let mut link = Link::new(program, 1, BEGAN_NS);
        let mut released = Vec::new();
        let mut take_in = |sent_ns, is_greeting| {
            let identity = Identity {
                channel: 0,
                publisher: 0,
                subscriber: 0,
                sequence: 0,
            };
            link.take_in(identity, sent_ns, is_greeting, &[u8::from(is_greeting)]);
            while let Some(due_ns) = link.next_due_ns() {
                link.release(|message| released.push((due_ns, message[0])));
            }
        };
        for (sent_ns, is_greeting) in [(60, true), (4900, true), (6000, false), (7500, false), (9000, false)] {
            take_in(sent_ns, is_greeting);
        }
        // Greetings from 5000 after its start on, full messages from 3000 after the first was sent; then 1000 after each.
        assert_eq!(released, [(5050, 1), (5900, 1), (9000, 0), (9000, 0), (10_000, 0)]);
    }

    #[test]
    fn a_bandwidth_spaces_messages_and_only_those_that_come_too_fast() {
        let program = Program {
            bandwidth_bits_per_s: 80_000_000, // 100 ns a byte
            ..PROGRAM
        };
        assert_eq!(released(program, &[0, 10, 1000]), [(1100, 0), (1200, 1), (2100, 2)]);
    }

    #[test]
    fn a_loss_takes_its_time_on_the_link_and_a_duplicate_none() {
        let slow = Program {
            bandwidth_bits_per_s: 80_000_000,
            ..PROGRAM
        };
        let lossy = Program {
            loss_per_million: 1_000_000,
            ..slow
        };
        assert_eq!(released(lossy, &[0, 0]), []);
        let doubling = Program {
            duplicate_per_million: 1_000_000,
            duplicate_delay_ns: 7,
            ..slow
        };
        assert_eq!(
            released(doubling, &[0, 0]),
            [(1100, 0), (1107, 0), (1200, 1), (1207, 1)]
        );
    }

    #[test]
    fn a_held_back_message_is_overtaken_by_those_sent_in_the_meantime() {
        let program = Program {
            reorder_per_million: 300_000,
            reorder_delay_ns: 25,
            ..PROGRAM
        };
        let sent_ns: Vec<_> = (0..100).map(|k| k * 10).collect();
        let mut expected: Vec<_> = (0..100u8)
            .map(|sequence| {
                let fate = Fate::of(
                    &program,
                    Identity {
                        channel: 0,
                        publisher: 0,
                        subscriber: 0,
                        sequence: u32::from(sequence),
                    },
                );
                (sent_ns[usize::from(sequence)] + fate.delay_ns, sequence)
            })
            .collect();
        let in_order = expected.clone();
        expected.sort_unstable();
        assert_ne!(expected, in_order);
        assert_eq!(released(program, &sent_ns), expected);
    }
}
