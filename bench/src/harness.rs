//! The cost of our own code for each message, without a middleware.

use std::hint::black_box;

use middlemark_runtime::harness::{self, Flood};
use middlemark_runtime::{Publish, PublishError, Publisher, Receiver, clock};

use crate::Figure;
use crate::spread::Spread;

const REPETITIONS: usize = 15;
const MESSAGES: u32 = 200_000;
pub(crate) const SIZE_BYTES: usize = 64;

pub(crate) fn figures() -> Vec<Figure> {
    let figure = |name: &str, goal, measure: fn() -> f64| Figure {
        name: name.into(),
        unit: "ns",
        goal,
        spread: Spread::of(REPETITIONS, measure),
    };
    vec![
        figure("reading the clock", "", clock::cost_ns),
        figure("receiving: stamp, count and record a sample", "", receive_ns),
        figure("  of which recording, beyond the stamp", "<= 50", || {
            receive_ns() - clock::cost_ns()
        }),
        figure("publishing 64 B: body, header, two stamps, record", "", publish_ns),
        figure("publishing 64 B by a schedule: pacing too", "", scheduled_ns),
        figure("  of which beyond writing the body", "<= 100", || {
            publish_ns() - harness::fill_ns(SIZE_BYTES, MESSAGES) as f64 / f64::from(MESSAGES)
        }),
    ]
}

fn receive_ns() -> f64 {
    let receiver = harness::receiver(SIZE_BYTES, MESSAGES);
    let mut message = message();
    let begin_ns = clock::now_ns();
    for sequence in 0..MESSAGES {
        receive(&receiver, &mut message, sequence);
    }
    (clock::now_ns() - begin_ns) as f64 / f64::from(MESSAGES)
}

/// A message that such receivers take.
pub(crate) fn message() -> [u8; SIZE_BYTES] {
    let mut message = [0; SIZE_BYTES];
    let header = harness::header(0);
    message[..header.len()].copy_from_slice(&header);
    message
}

/// Hands over the message of this number.
#[inline]
pub(crate) fn receive(receiver: &Receiver, message: &mut [u8; SIZE_BYTES], sequence: u32) {
    message[16..20].copy_from_slice(&sequence.to_le_bytes());
    receiver.receive(black_box(message));
}

struct Nowhere;

impl Publish for Nowhere {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        black_box(message);
        Ok(())
    }
}

fn publish_ns() -> f64 {
    publisher(MESSAGES).run() as f64 / f64::from(MESSAGES)
}

fn scheduled_ns() -> f64 {
    publisher(MESSAGES).run_behind_schedule() as f64 / f64::from(MESSAGES)
}

/// A publisher's loop, whose messages go nowhere.
pub(crate) fn publisher(messages: u32) -> Flood {
    Flood::new(Publisher::Copying(Box::new(Nowhere)), SIZE_BYTES, messages)
}
