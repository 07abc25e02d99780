//! The cost of our own code for a message where an application holds many streams, which take turns.
//!
//! What grows with the number of streams is what the caches don't hold of them; `harness` measures one stream alone.

use middlemark_runtime::harness::{self, Flood};
use middlemark_runtime::{Receiver, clock};

use crate::Figure;
use crate::harness::{SIZE_BYTES, message, publisher, receive};
use crate::spread::Spread;

const REPETITIONS: usize = 7;
/// Of all streams together.
const MESSAGES: u32 = 100_000;
const STREAMS: [u32; 4] = [1, 10, 100, 1000];

pub(crate) fn figures() -> Vec<Figure> {
    let figure = |name: String, measure: fn(u32) -> f64, streams| Figure {
        name,
        unit: "ns",
        goal: "",
        spread: Spread::of(REPETITIONS, || measure(streams)),
    };
    let receiving = STREAMS.map(|streams| figure(format!("receiving, {streams} streams in turn"), receive_ns, streams));
    let publishing = STREAMS.map(|streams| {
        figure(
            format!("publishing 64 B, {streams} streams in turn"),
            publish_ns,
            streams,
        )
    });
    receiving.into_iter().chain(publishing).collect()
}

fn receive_ns(streams: u32) -> f64 {
    let each = MESSAGES / streams;
    let receivers: Vec<Receiver> = (0..streams).map(|_| harness::receiver(SIZE_BYTES, each)).collect();
    let mut message = message();
    let begin_ns = clock::now_ns();
    for sequence in 0..each {
        for receiver in &receivers {
            receive(receiver, &mut message, sequence);
        }
    }
    (clock::now_ns() - begin_ns) as f64 / f64::from(each * streams)
}

fn publish_ns(streams: u32) -> f64 {
    let each = MESSAGES / streams;
    let mut publishers: Vec<Flood> = (0..streams).map(|_| publisher(each)).collect();
    let begin_ns = clock::now_ns();
    for sequence in 0..each {
        for publisher in &mut publishers {
            publisher.send(sequence);
        }
    }
    (clock::now_ns() - begin_ns) as f64 / f64::from(each * streams)
}
