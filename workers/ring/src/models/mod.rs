//! The ring under every order in which its participants can run, as a weakly ordered processor may run them too.
//!
//! Run by `make test-rust` with the feature `loom`. Attaching while messages are written is not modelled: there the writer
//! stores `written` and loads `attachments`, the reader the other way round, and loom takes such a pair of sequentially
//! consistent accesses for weaker than it is; `tests/ring.rs` stresses it.

pub(crate) mod segment;

use std::sync::Arc;
use std::time::Duration;

use loom::sync::atomic::Ordering;
use loom::thread;

use self::segment::Segment;
use crate::{Full, Layout, Reader, WhenFull, Writer};

/// Longer than any model takes, and no time passes in one: only a wake-up ends a wait.
const WAIT: WhenFull = WhenFull::Wait(Duration::from_secs(3600));

/// One more than the ring has slots, so that the first slot is used again.
const MESSAGES: u8 = 3;

/// Tries all orders in which threads are interrupted at most this often, wherever that is.
fn model(interruptions: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interruptions);
    builder.check(run);
}

/// A ring of two slots, its writer and its readers, all attached.
fn ring(readers: usize, when_full: WhenFull) -> (Writer, Vec<Reader>) {
    let segment = Arc::new(Segment::new(Layout::new(1, readers, 2)));
    let reading = (0..readers).map(|index| Reader::of(segment.clone(), index)).collect();
    (Writer::of(segment, when_full), reading)
}

fn write_all(writer: &mut Writer) {
    for number in 0..MESSAGES {
        assert_eq!(writer.write_copy(&[number]), Ok(()));
    }
}

/// Takes the messages in order, asleep while there is none.
fn take_all(mut reader: Reader) {
    for number in 0..MESSAGES {
        while !reader.take(|message| assert_eq!(message, [number])) {
            reader.wait(None);
        }
    }
}

#[test]
fn every_message_arrives_whole_and_in_order_where_both_wait_for_each_other() {
    model(3, || {
        let (mut writer, mut readers) = ring(1, WAIT);
        let reader = readers.remove(0);
        let reading = thread::spawn(move || take_all(reader));
        write_all(&mut writer);
        reading.join().unwrap();
    });
}

#[test]
fn the_slower_of_two_readers_misses_nothing() {
    model(2, || {
        let (mut writer, readers) = ring(2, WAIT);
        let reading: Vec<_> = readers
            .into_iter()
            .map(|reader| thread::spawn(move || take_all(reader)))
            .collect();
        write_all(&mut writer);
        for reader in reading {
            reader.join().unwrap();
        }
    });
}

#[test]
fn a_reader_that_is_told_to_stop_wakes() {
    model(3, || {
        let (_writer, mut readers) = ring(1, WAIT);
        let reader = readers.remove(0);
        let waker = reader.waker();
        let waiting = thread::spawn(move || {
            while !reader.is_stopping() {
                reader.wait(None);
            }
        });
        waker.stop();
        waiting.join().unwrap();
    });
}

#[test]
fn a_writer_that_waits_for_a_reader_goes_on_when_that_leaves() {
    model(3, || {
        let (mut writer, readers) = ring(1, WAIT);
        let segment = writer.segment();
        let leaving = thread::spawn(move || {
            let place = segment.place(0);
            place.detach(place.attachments.load(Ordering::SeqCst));
        });
        let written: Vec<_> = (0..MESSAGES).map(|number| writer.write_copy(&[number])).collect();
        assert_eq!(written.last(), Some(&Err(Full::Nobody)));
        leaving.join().unwrap();
        drop(readers);
    });
}

#[test]
fn a_writer_that_does_not_wait_never_touches_a_slot_that_is_read() {
    model(3, || {
        let (mut writer, mut readers) = ring(1, WhenFull::Refuse);
        let mut reader = readers.remove(0);
        let reading = thread::spawn(move || (0..MESSAGES).filter(|_| reader.take(|_| ())).count());
        let accepted = (0..MESSAGES)
            .filter(|number| writer.write_copy(&[*number]).is_ok())
            .count();
        assert!(accepted >= 2);
        assert!(reading.join().unwrap() <= accepted);
    });
}
