//! A flow and its recorder under every order in which threads can run, as a weakly ordered processor may run them too.
//!
//! Run by `make test-rust` with the feature `loom`; each model is two receive threads beside the main thread of a drain.

use loom::sync::Arc;
use loom::sync::atomic::AtomicU32;
use loom::thread::{self, JoinHandle};

use super::*;
use crate::recorder::Recorder;

#[derive(Debug)]
struct Endpoint {
    flow: Flow,
    recorder: Recorder<u32>,
    completed: AtomicU32,
}

impl Endpoint {
    fn new() -> Arc<Endpoint> {
        Arc::new(Endpoint {
            flow: Flow::new(64),
            recorder: Recorder::new(2, u32::MAX),
            completed: AtomicU32::new(0),
        })
    }

    /// A thread that takes a message as the receiver does.
    fn take(this: &Arc<Endpoint>, sequence: u32) -> JoinHandle<()> {
        let endpoint = Arc::clone(this);
        thread::spawn(move || {
            if !endpoint.flow.admit(sequence, 1) {
                return;
            }
            endpoint.flow.late.fetch_add(1, Relaxed);
            assert!(endpoint.recorder.record(sequence), "there is memory for all");
            if endpoint.flow.finish() {
                endpoint.completed.fetch_add(1, Relaxed);
            }
        })
    }

    /// The end of the window, as `counts` makes it: the counts, and the recorded sequence numbers in order.
    fn collect(&self) -> (FlowCounts, Vec<u32>) {
        let counts = self.flow.close();
        let count = self.recorder.seal();
        // SAFETY: the flow is closed, so that no message is being recorded.
        let mut samples: Vec<_> = unsafe { self.recorder.samples(count) }.collect();
        samples.sort_unstable();
        (counts, samples)
    }
}

/// Tries all orders in which a thread is interrupted at most this often at any point: enough for every way in which two
/// of these steps can meet, and seconds in place of minutes.
const INTERRUPTIONS: usize = 3;

fn model(run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(INTERRUPTIONS);
    builder.check(run);
}

fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn the_last_message_ends_the_drain_once() {
    model(|| {
        let endpoint = Endpoint::new();
        let threads = [Endpoint::take(&endpoint, 0), Endpoint::take(&endpoint, 1)];
        let was_there = endpoint.flow.expect(2);
        join(threads);
        assert_eq!(u32::from(was_there) + endpoint.completed.load(Relaxed), 1);
    });
}

#[test]
fn what_is_counted_is_recorded_even_while_messages_still_come() {
    model(|| {
        let endpoint = Endpoint::new();
        let threads = [Endpoint::take(&endpoint, 0), Endpoint::take(&endpoint, 1)];
        let (counts, samples) = endpoint.collect();
        assert_eq!(samples.len(), counts.arrived as usize);
        assert_eq!((u64::from(counts.arrived), 0), (counts.late, counts.duplicates));
        assert!(
            !samples.contains(&u32::MAX),
            "a place that was never written: {samples:?}"
        );
        join(threads);
    });
}

#[test]
fn of_a_message_that_came_twice_one_is_recorded() {
    model(|| {
        let endpoint = Endpoint::new();
        join([Endpoint::take(&endpoint, 0), Endpoint::take(&endpoint, 0)]);
        let (counts, samples) = endpoint.collect();
        assert_eq!((counts.arrived, counts.duplicates, samples), (1, 1, vec![0]));
    });
}
