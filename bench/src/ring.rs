//! The shared-memory ring between two CPUs: how long after its stamp a message is seen.
//!
//! Each message is written a moment after the last one was seen, so that it finds both sides awake and idle; the stamp
//! is taken before the write, as a worker's is.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use middlemark_ring::{Layout, Reader, WhenFull, Writer};
use middlemark_runtime::clock;

use crate::Figure;
use crate::pinned::{Side, pin};
use crate::spread::Spread;

const REPETITIONS: usize = 9;
const MESSAGES: usize = 2_000;
const SPACING_NS: i64 = 2_000;
const SIZE_BYTES: usize = 64;
/// A reader that takes nothing for so long has ended.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn figures() -> io::Result<Vec<Figure>> {
    let mut medians = Vec::new();
    for _ in 0..REPETITIONS {
        medians.push(one_way_ns()?);
    }
    let mut medians = medians.into_iter();
    Ok(vec![Figure {
        name: "shm polling, 64 B one way between CPUs, median".into(),
        unit: "ns",
        goal: "<= 1000",
        spread: Spread::of(REPETITIONS, || medians.next().unwrap_or_default()),
    }])
}

fn one_way_ns() -> io::Result<f64> {
    let name = format!("middlemark_bench_{}", std::process::id());
    let layout = Layout::new(SIZE_BYTES, 1, 64);
    let mut reader = Reader::attach(&name, layout, 0)?;
    let mut writer = Writer::attach(&name, layout, WhenFull::Wait(PATIENCE))?;
    let seen = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        pin(Side::Receiver);
        let receiving = scope.spawn(|| median_ns(&mut reader, &seen));
        pin(Side::Sender);
        write_spaced(&mut writer, &seen)?;
        receiving
            .join()
            .map_err(|_| io::Error::other("the ring's reader panicked"))
    })
}

fn median_ns(reader: &mut Reader, seen: &AtomicUsize) -> f64 {
    let mut latencies = Vec::with_capacity(MESSAGES);
    while latencies.len() < MESSAGES {
        let has_seen = reader.take(|message| {
            let seen_ns = clock::now_ns();
            let sent_ns = message.first_chunk().map_or(0, |stamp| i64::from_le_bytes(*stamp));
            latencies.push(seen_ns - sent_ns);
        });
        if has_seen {
            seen.store(latencies.len(), Relaxed);
        } else {
            std::hint::spin_loop();
        }
    }
    latencies.sort_unstable();
    latencies[MESSAGES / 2] as f64
}

fn write_spaced(writer: &mut Writer, seen: &AtomicUsize) -> io::Result<()> {
    let mut message = [0xA5; SIZE_BYTES];
    for number in 0..MESSAGES {
        while seen.load(Relaxed) < number {
            std::hint::spin_loop();
        }
        clock::wait_until(clock::now_ns() + SPACING_NS, SPACING_NS);
        message[..8].copy_from_slice(&clock::now_ns().to_le_bytes());
        writer
            .write_copy(&message)
            .map_err(|full| io::Error::other(format!("writing into the ring: {full:?}")))?;
    }
    Ok(())
}
