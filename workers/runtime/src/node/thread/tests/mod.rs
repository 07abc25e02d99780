mod parts;

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};

use middlemark_contract::{PublisherCounts, TakeSpec, Trigger};
use parts::{message, sender, spec};

use super::*;
use crate::message::header::{Header, Phase};
use crate::node::input_queue::{self, InputWriter};

/// Of what ends by itself.
const WINDOW_NS: i64 = 600_000_000;
/// Of what is ended once the test has seen enough of it: longer than any machine keeps a thread waiting.
const ENDLESS_NS: i64 = 3_600_000_000_000;
const QUEUE: TakeSpec = TakeSpec::Queue { capacity: 16 };

/// A node, and what it did so far.
struct Prepared {
    node: Node,
    writers: Vec<InputWriter>,
    gate: Arc<WindowGate>,
    sent: Arc<Mutex<Vec<(Phase, u32)>>>,
}

impl Prepared {
    fn new(trigger: TriggerSpec, takes: &[TakeSpec], time_ns: u64) -> Prepared {
        let spec = spec(trigger, takes, time_ns);
        let (bell, gate, sent) = (Arc::default(), Arc::<WindowGate>::default(), Arc::default());
        let (inputs, writers) = input_queue::inputs(&spec, &bell);
        let node = Node {
            trigger,
            taken: Taken::new(&spec, &inputs),
            inputs,
            computation: Computation::new(spec.compute, 0, crate::node::compute::rounds_per_ns()).unwrap(),
            outputs: vec![OutputSender::new(sender(&gate, &sent))],
            bell,
            gate: Arc::clone(&gate),
            spin_ns: 0,
            journal: Journal::new(&spec, Trigger::Message, 1000, 1000),
        };
        Prepared {
            node,
            writers,
            gate,
            sent,
        }
    }

    /// Opens a window that begins now.
    fn open_for(self, window_ns: i64) -> Prepared {
        open(&self.gate, window_ns);
        self
    }

    fn offered(self, input: usize, sequence: u32) -> Prepared {
        offer(&self.writers, input, sequence);
        self
    }

    fn start(self) -> Running {
        let (notes, counts) = channel();
        let node = self.node;
        Running {
            bell: Arc::clone(&node.bell),
            thread: thread::spawn(move || node.run(clock::now_ns(), &notes)),
            writers: self.writers,
            gate: self.gate,
            sent: self.sent,
            counts,
        }
    }
}

fn open(gate: &WindowGate, window_ns: i64) -> Window {
    let begin_ns = clock::now_ns();
    let window = Window::joined_at(begin_ns, begin_ns, begin_ns + window_ns);
    gate.open(window);
    window
}

fn offer(writers: &[InputWriter], input: usize, sequence: u32) {
    let header = Header {
        sequence,
        channel: 2 * input as u16,
        ..message()
    };
    writers[input].offer(&header, clock::now_ns());
}

/// A node on its thread.
struct Running {
    writers: Vec<InputWriter>,
    bell: Arc<Bell>,
    gate: Arc<WindowGate>,
    thread: JoinHandle<Journal>,
    sent: Arc<Mutex<Vec<(Phase, u32)>>>,
    counts: std::sync::mpsc::Receiver<Note>,
}

impl Running {
    fn offer(&self, input: usize, sequence: u32) {
        offer(&self.writers, input, sequence);
    }

    /// Waits until it has sent so many messages of a phase.
    fn wait_sent(&self, wanted: Phase, messages: usize) {
        let sent = || {
            self.sent
                .lock()
                .unwrap()
                .iter()
                .filter(|(phase, _)| *phase == wanted)
                .count()
        };
        while sent() < messages {
            assert!(!self.thread.is_finished(), "it ended with {} of {messages}", sent());
            thread::yield_now();
        }
    }

    /// Ends it once it has sent so many messages of the window.
    fn end_after(self, messages: usize) -> (Journal, Vec<(Phase, u32)>, PublisherCounts) {
        self.wait_sent(Phase::Window, messages);
        self.gate.abandon();
        self.bell.ring();
        self.end()
    }

    fn end(self) -> (Journal, Vec<(Phase, u32)>, PublisherCounts) {
        let journal = self.thread.join().unwrap();
        let Ok(Note::Finished(Some(counts))) = self.counts.recv() else {
            panic!("a node tells what its outputs sent");
        };
        (journal, self.sent.lock().unwrap().clone(), counts)
    }
}

fn taken(journal: &Journal) -> Vec<(u64, u16, u32)> {
    journal
        .inputs
        .iter()
        .map(|input| (input.execution, input.stream, input.sequence))
        .collect()
}

#[test]
fn each_message_is_an_execution_where_any_will_do() {
    let trigger = TriggerSpec::Message { when: Readiness::Any };
    let running = Prepared::new(trigger, &[QUEUE, QUEUE], 0).open_for(ENDLESS_NS).start();
    running.offer(1, 0);
    running.offer(0, 0);
    running.offer(1, 1);
    let (journal, sent, counts) = running.end_after(3);
    assert_eq!(taken(&journal), [(0, 1, 0), (1, 0, 0), (2, 1, 1)]);
    assert_eq!(sent, [0, 1, 2].map(|number| (Phase::Window, number)));
    assert_eq!((counts.intended, counts.sent, journal.counts().executions), (3, 3, 3));
}

#[test]
fn a_node_that_needs_all_inputs_runs_once_each_has_a_message_and_takes_the_newest() {
    let trigger = TriggerSpec::Message { when: Readiness::All };
    let takes = [TakeSpec::Newest, TakeSpec::Newest];
    let running = Prepared::new(trigger, &takes, 0).open_for(ENDLESS_NS).start();
    running.offer(0, 0);
    running.offer(0, 1);
    running.offer(1, 0);
    let (journal, ..) = running.end_after(1);
    assert_eq!(taken(&journal), [(0, 0, 1), (0, 1, 0)]);
    assert_eq!(journal.counts().inputs[0].passed_over, 1);
}

#[test]
fn a_timer_takes_all_that_waits_in_a_queue() {
    let prepared = Prepared::new(TriggerSpec::Timer { rate_hz: 100.0 }, &[QUEUE], 0).open_for(ENDLESS_NS);
    let prepared = (0..3).fold(prepared, |prepared, sequence| prepared.offered(0, sequence));
    let (journal, ..) = prepared.start().end_after(2);
    assert_eq!(taken(&journal), [(0, 0, 0), (0, 0, 1), (0, 0, 2)]);
}

#[test]
fn a_timer_skips_the_instants_that_pass_while_it_computes() {
    let prepared = Prepared::new(TriggerSpec::Timer { rate_hz: 1000.0 }, &[QUEUE], 5_000_000);
    let (journal, _, sent) = prepared.open_for(WINDOW_NS).start().end();
    let counts = journal.counts();
    // The last instant's execution may begin after the window, and then counts for nothing.
    assert!(
        (599..=600).contains(&(counts.executions + counts.skipped)),
        "{counts:?}"
    );
    assert!(counts.skipped >= 300 && counts.executions > 0, "{counts:?}");
    assert_eq!(u64::from(sent.sent), counts.executions);
}

#[test]
fn a_source_runs_at_every_instant_and_numbers_the_window_apart() {
    let running = Prepared::new(TriggerSpec::Source { rate_hz: 500.0 }, &[], 0).start();
    running.gate.approach_from(clock::now_ns());
    running.wait_sent(Phase::Approach, 1);
    let window = open(&running.gate, ENDLESS_NS);
    let (journal, sent, counts) = running.end_after(30);
    let within: Vec<u32> = sent
        .iter()
        .filter(|each| each.0 == Phase::Window)
        .map(|each| each.1)
        .collect();
    assert_eq!(within, (0..counts.sent).collect::<Vec<_>>());
    assert_eq!(u64::from(counts.sent), journal.counts().executions);
    // It may be late, the last one of before the window too, but is never early, so that each has an instant of its own.
    for (due_ns, execution) in (window.begin_ns..).step_by(2_000_000).zip(&journal.executions[1..]) {
        assert!(execution.started_ns >= due_ns, "{due_ns}: {execution:?}");
    }
}

#[test]
fn what_filling_takes_is_noted_with_each_output_and_with_all_that_are_sent_after_it() {
    let (gate, sent) = (Arc::default(), Arc::default());
    let mut outputs = [0, 1].map(|_| OutputSender::new(sender(&gate, &sent)));
    let now_ns = clock::now_ns();
    let window = Window::joined_at(now_ns, now_ns, now_ns + WINDOW_NS);
    let mut filled_ns = 0;
    let noted = outputs
        .each_mut()
        .map(|output| output.send(Some(window), now_ns, &mut filled_ns).unwrap());
    assert!(0 < noted[0].fill_ns && noted[0].fill_ns < noted[1].fill_ns, "{noted:?}");
    assert_eq!(noted[1].fill_ns, filled_ns);
    // No output is sent sooner than the computation's end and all the filling since.
    assert!(
        noted.iter().all(|output| now_ns + output.fill_ns <= output.sent_ns),
        "{noted:?}"
    );
}
