//! The way of a message from the receive callback to the node that reads it: a bounded queue without a lock, and a bell.
//!
//! Whoever offers a message never waits, allocates nothing and counts what is lost; it begins after the receive stamp.
//! `thread` takes from the queues.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Duration;

use crossbeam_queue::ArrayQueue;
use middlemark_contract::{NodeSpec, Readiness, TakeSpec, TriggerSpec};

use crate::clock;
use crate::message::header::{Header, Phase};

/// A message that has come for a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrived {
    /// The input's position in the node.
    pub(crate) input: u16,
    pub(crate) header: Header,
    pub(crate) received_ns: i64,
}

/// Wakes a node.
#[derive(Debug, Default)]
pub(crate) struct Bell(OnceLock<Thread>);

impl Bell {
    /// From now on this thread is woken. What was offered before is in the queues, which it looks into first.
    pub(crate) fn wake_this_thread(&self) {
        self.0.get_or_init(thread::current);
    }

    #[inline]
    pub(crate) fn ring(&self) {
        if let Some(thread) = self.0.get() {
            thread.unpark();
        }
    }

    /// Waits, on the thread that it wakes, until it rings or an instant has passed; may return early.
    pub(crate) fn wait(until_ns: Option<i64>) {
        match until_ns {
            None => thread::park(),
            Some(until_ns) => {
                let left_ns = (until_ns - clock::now_ns()).max(0);
                thread::park_timeout(Duration::from_nanos(left_ns as u64));
            }
        }
    }
}

/// The messages that wait at an input, or at all inputs of a node that runs on any of them.
#[derive(Debug)]
struct Queue {
    waiting: ArrayQueue<Arrived>,
    /// Whether a new message replaces the one that waits.
    keeps_newest: bool,
}

/// What was lost at one input, of the window's messages.
#[derive(Debug, Default)]
struct Losses {
    passed_over: AtomicU64,
    overflowed: AtomicU64,
    is_closed: AtomicBool,
}

/// The end of a node's input that the receive callback holds.
pub(crate) struct InputWriter {
    input: u16,
    queue: Arc<Queue>,
    losses: Arc<Losses>,
    /// Where messages make the node run.
    bell: Option<Arc<Bell>>,
}

impl InputWriter {
    /// Hands a message to the node; any thread may, several at once too.
    #[inline]
    pub(crate) fn offer(&self, header: &Header, received_ns: i64) {
        if self.losses.is_closed.load(Relaxed) {
            return;
        }
        let arrived = Arrived {
            input: self.input,
            header: *header,
            received_ns,
        };
        let (lost, counter) = if self.queue.keeps_newest {
            (self.queue.waiting.force_push(arrived), &self.losses.passed_over)
        } else {
            (self.queue.waiting.push(arrived).err(), &self.losses.overflowed)
        };
        if lost.is_some_and(|lost| lost.header.phase == Phase::Window) {
            counter.fetch_add(1, Relaxed);
        }
        if let Some(bell) = &self.bell {
            bell.ring();
        }
    }
}

/// The end of an input that the node holds.
pub(crate) struct InputReader {
    queue: Arc<Queue>,
    losses: Arc<Losses>,
}

impl InputReader {
    pub(crate) fn take(&self) -> Option<Arrived> {
        self.queue.waiting.pop()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.waiting.is_empty()
    }

    pub(crate) fn keeps_newest(&self) -> bool {
        self.queue.keeps_newest
    }

    /// How many may wait.
    pub(crate) fn capacity(&self) -> usize {
        self.queue.waiting.capacity()
    }

    /// Lets nothing in any more, and counts no loss.
    pub(crate) fn close(&self) {
        self.losses.is_closed.store(true, Relaxed);
    }

    pub(crate) fn passed_over(&self) -> u64 {
        self.losses.passed_over.load(Relaxed)
    }

    pub(crate) fn overflowed(&self) -> u64 {
        self.losses.overflowed.load(Relaxed)
    }
}

/// Both ends of a node's inputs, in the spec's order.
pub(crate) fn inputs(spec: &NodeSpec, bell: &Arc<Bell>) -> (Vec<InputReader>, Vec<InputWriter>) {
    let on_any = matches!(spec.trigger, TriggerSpec::Message { when: Readiness::Any });
    let shared = on_any.then(|| {
        let capacity = spec.inputs.iter().map(|input| capacity(input.take)).sum::<usize>();
        Arc::new(queue(capacity.max(1), false))
    });
    let rings = matches!(spec.trigger, TriggerSpec::Message { .. });
    (0..)
        .zip(&spec.inputs)
        .map(|(position, input)| {
            let own = || Arc::new(queue(capacity(input.take), input.take == TakeSpec::Newest));
            let queue = shared.clone().unwrap_or_else(own);
            let losses = Arc::new(Losses::default());
            let writer = InputWriter {
                input: position,
                queue: Arc::clone(&queue),
                losses: Arc::clone(&losses),
                bell: rings.then(|| Arc::clone(bell)),
            };
            (InputReader { queue, losses }, writer)
        })
        .unzip()
}

fn queue(capacity: usize, keeps_newest: bool) -> Queue {
    Queue {
        waiting: ArrayQueue::new(capacity),
        keeps_newest,
    }
}

fn capacity(take: TakeSpec) -> usize {
    match take {
        TakeSpec::Newest => 1,
        TakeSpec::Queue { capacity } => capacity as usize,
    }
}

#[cfg(test)]
mod tests {
    use middlemark_contract::{ComputeSpec, NodeInput};

    use super::*;

    fn ends(trigger: TriggerSpec, takes: &[TakeSpec]) -> (Vec<InputReader>, Vec<InputWriter>) {
        let spec = NodeSpec {
            name: "n".into(),
            number: 0,
            trigger,
            compute: ComputeSpec::Constant { time_ns: 0 },
            seed: 0,
            inputs: (0..)
                .zip(takes)
                .map(|(index, take)| NodeInput {
                    stream: format!("s{index}"),
                    index,
                    take: *take,
                })
                .collect(),
            outputs: Vec::new(),
        };
        inputs(&spec, &Arc::default())
    }

    fn message(sequence: u32, phase: Phase) -> Header {
        Header {
            sent_ns: 0,
            intended_ns: 0,
            sequence,
            token: 0,
            channel: 0,
            publisher: 0,
            asker: 0,
            phase,
        }
    }

    fn offer(writer: &InputWriter, sequences: std::ops::Range<u32>) {
        sequences.for_each(|sequence| writer.offer(&message(sequence, Phase::Window), 0));
    }

    fn numbers(input: &InputReader) -> Vec<u32> {
        std::iter::from_fn(|| input.take())
            .map(|arrived| arrived.header.sequence)
            .collect()
    }

    #[test]
    fn the_newest_replaces_what_waits_and_is_counted() {
        let (inputs, writers) = ends(TriggerSpec::Timer { rate_hz: 1.0 }, &[TakeSpec::Newest]);
        writers[0].offer(&message(7, Phase::Approach), 0);
        offer(&writers[0], 0..3);
        assert_eq!((inputs[0].passed_over(), inputs[0].overflowed()), (2, 0));
        assert_eq!(numbers(&inputs[0]), [2]);
    }

    #[test]
    fn a_full_queue_keeps_the_oldest_and_counts_what_overflows() {
        let take = TakeSpec::Queue { capacity: 2 };
        let (inputs, writers) = ends(TriggerSpec::Timer { rate_hz: 1.0 }, &[take]);
        offer(&writers[0], 0..5);
        assert_eq!((inputs[0].passed_over(), inputs[0].overflowed()), (0, 3));
        assert_eq!(numbers(&inputs[0]), [0, 1]);
    }

    #[test]
    fn a_node_that_runs_on_any_message_gets_all_in_the_order_in_which_they_came() {
        let take = TakeSpec::Queue { capacity: 2 };
        let trigger = TriggerSpec::Message { when: Readiness::Any };
        let (inputs, writers) = ends(trigger, &[take, take]);
        offer(&writers[1], 0..1);
        offer(&writers[0], 1..2);
        offer(&writers[1], 2..3);
        assert_eq!(numbers(&inputs[0]), [0, 1, 2]);
        assert!(inputs[1].is_empty());
    }

    #[test]
    fn nothing_comes_into_a_closed_input() {
        let (inputs, writers) = ends(TriggerSpec::Timer { rate_hz: 1.0 }, &[TakeSpec::Newest]);
        inputs[0].close();
        offer(&writers[0], 0..3);
        assert_eq!((numbers(&inputs[0]), inputs[0].passed_over()), (Vec::new(), 0));
    }
}
