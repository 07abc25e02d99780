//! The shared-memory ring between two CPUs: how long after its stamp a message is seen.
//!
//! Messages are spaced, so that each finds both sides awake and idle; the stamp is taken before the write, as a
//! worker's is. Of several short runs the best counts, as what else runs on the machine only ever lengthens them.

use std::io;

use middlemark_ring::{Layout, Reader, WhenFull, Writer};
use middlemark_runtime::clock;

use crate::Figure;
use crate::pinned::{Side, pin};
use crate::spread::Spread;

const REPETITIONS: usize = 15;
const RUNS: usize = 15;
const MESSAGES: usize = 500;
const SPACING_NS: i64 = 5_000;
const SIZE_BYTES: usize = 64;

pub(crate) fn figures() -> io::Result<Vec<Figure>> {
    let mut medians = Vec::new();
    for _ in 0..REPETITIONS {
        let runs: Vec<f64> = (0..RUNS).map(|_| one_way_ns()).collect::<io::Result<_>>()?;
        medians.push(runs.into_iter().fold(f64::INFINITY, f64::min));
    }
    let mut medians = medians.into_iter();
    Ok(vec![Figure {
        name: "shm polling, 64 B one way between CPUs, median",
        unit: "ns",
        goal: "<= 1000",
        spread: Spread::of(REPETITIONS, || medians.next().unwrap_or_default()),
    }])
}

fn one_way_ns() -> io::Result<f64> {
    let name = format!("middlemark_bench_{}", std::process::id());
    let layout = Layout::new(SIZE_BYTES, 1, 64);
    let mut reader = Reader::attach(&name, layout, 0)?;
    let mut writer = Writer::attach(&name, layout, WhenFull::Wait)?;
    pin(Side::Receiver);
    let thread = std::thread::spawn(move || {
        let mut latencies = Vec::with_capacity(MESSAGES);
        while latencies.len() < MESSAGES {
            let seen = reader.take(|message| {
                let seen_ns = clock::now_ns();
                let sent_ns = message.first_chunk().map_or(0, |stamp| i64::from_le_bytes(*stamp));
                latencies.push(seen_ns - sent_ns);
            });
            if !seen {
                std::hint::spin_loop();
            }
        }
        latencies.sort_unstable();
        latencies[MESSAGES / 2] as f64
    });
    pin(Side::Sender);
    let mut message = [0xA5; SIZE_BYTES];
    let mut next_ns = clock::now_ns();
    for _ in 0..MESSAGES {
        clock::wait_until(next_ns, SPACING_NS);
        message[..8].copy_from_slice(&clock::now_ns().to_le_bytes());
        writer
            .write_copy(&message)
            .map_err(|full| io::Error::other(format!("writing into the ring: {full:?}")))?;
        next_ns = clock::now_ns() + SPACING_NS;
    }
    thread
        .join()
        .map_err(|_| io::Error::other("the ring's reader panicked"))
}
