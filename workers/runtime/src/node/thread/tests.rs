use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};

use middlemark_contract::{ComputeSpec, NodeInput, NodeOutput, PatternSpec, PublisherCounts, TakeSpec, Trigger};

use super::*;
use crate::harness;
use crate::message::channel::Channel;
use crate::message::header::{Header, Phase};
use crate::message::payload::Pool;
use crate::node::input_queue::{self, InputWriter};
use crate::recorder::Recorder;
use crate::send::publish::{Publish, PublishError, Publisher};
use crate::send::sender::{Filling, Sender};
use crate::send::stamping_publisher::StampingPublisher;

const SIZE_BYTES: usize = 64;
const WINDOW_NS: i64 = 60_000_000;
const QUEUE: TakeSpec = TakeSpec::Queue { capacity: 16 };

/// Notes the phase and the number of each message.
struct Noting(Arc<Mutex<Vec<(Phase, u32)>>>);

impl Publish for Noting {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let header = Header::decode(message[..32].try_into().unwrap()).unwrap();
        self.0.lock().unwrap().push((header.phase, header.sequence));
        Ok(())
    }
}

/// A node on its thread, with a window that is known from the beginning.
struct Running {
    writers: Vec<InputWriter>,
    window: Window,
    thread: JoinHandle<Journal>,
    sent: Arc<Mutex<Vec<(Phase, u32)>>>,
    counts: std::sync::mpsc::Receiver<Note>,
}

impl Running {
    fn start(trigger: TriggerSpec, takes: &[TakeSpec], time_ns: u64) -> Running {
        let spec = spec(trigger, takes, time_ns);
        let (bell, gate, sent) = (Arc::default(), Arc::<WindowGate>::default(), Arc::default());
        let (inputs, writers) = input_queue::inputs(&spec, &bell);
        let begin_ns = clock::now_ns() + 10_000_000;
        let window = Window::joined_at(clock::now_ns(), begin_ns, begin_ns + WINDOW_NS);
        gate.open(window);
        let node = Node {
            trigger,
            taken: Taken::new(&spec, &inputs),
            inputs,
            computation: Computation::new(spec.compute, 0, crate::node::compute::rounds_per_ns()).unwrap(),
            outputs: vec![OutputSender::new(sender(&gate, &sent))],
            bell,
            gate,
            spin_ns: 0,
            journal: Journal::new(&spec, Trigger::Message, 1000, 1000),
        };
        let (notes, counts) = channel();
        let thread = thread::spawn(move || node.run(clock::now_ns(), &notes));
        clock::sleep_until(begin_ns + 1_000_000);
        Running {
            writers,
            window,
            thread,
            sent,
            counts,
        }
    }

    fn offer(&self, input: usize, sequence: u32) {
        let header = Header {
            sequence,
            channel: 2 * input as u16,
            ..message()
        };
        self.writers[input].offer(&header, clock::now_ns());
    }

    fn end(self) -> (Journal, Vec<(Phase, u32)>, PublisherCounts) {
        let journal = self.thread.join().unwrap();
        assert!(clock::now_ns() >= self.window.end_ns - WINDOW_NS / 2);
        let Ok(Note::Finished(Some(counts))) = self.counts.recv() else {
            panic!("a node tells what its outputs sent");
        };
        (journal, self.sent.lock().unwrap().clone(), counts)
    }
}

fn message() -> Header {
    Header {
        sent_ns: clock::now_ns(),
        intended_ns: 0,
        sequence: 0,
        token: 0,
        channel: 0,
        publisher: 0,
        asker: 0,
        phase: Phase::Window,
    }
}

fn spec(trigger: TriggerSpec, takes: &[TakeSpec], time_ns: u64) -> NodeSpec {
    let inputs = (0..).zip(takes).map(|(index, take)| NodeInput {
        stream: format!("s{index}"),
        index,
        take: *take,
    });
    NodeSpec {
        name: "n".into(),
        number: 3,
        trigger,
        compute: ComputeSpec::Constant { time_ns },
        seed: 0,
        inputs: inputs.collect(),
        outputs: vec![NodeOutput {
            stream: "out".into(),
            index: 0,
        }],
    }
}

fn sender(gate: &Arc<WindowGate>, sent: &Arc<Mutex<Vec<(Phase, u32)>>>) -> Sender {
    let blank = middlemark_contract::Published {
        stream: 0,
        publisher: 0,
        sequence: 0,
        intended_ns: 0,
        sent_ns: 0,
        returned_ns: 0,
        fill_ns: 0,
        accepted: 0,
    };
    Sender {
        stream: "out".into(),
        pattern: PatternSpec::Computed { rate_hz: None },
        channel: Channel {
            number: 8,
            ..harness::channel(SIZE_BYTES)
        },
        publisher: StampingPublisher::new(
            Publisher::Copying(Box::new(Noting(Arc::clone(sent)))),
            SIZE_BYTES,
            Arc::new(Pool::new(7, SIZE_BYTES)),
        ),
        token: 0,
        spin_ns: 0,
        messages: 1000,
        recorder: Arc::new(Recorder::new(1000, blank)),
        turn: None,
        refusal: None,
        sent: 0,
        filling: Filling::default(),
        gate: Arc::clone(gate),
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
    let running = Running::start(trigger, &[QUEUE, QUEUE], 0);
    running.offer(1, 0);
    running.offer(0, 0);
    running.offer(1, 1);
    let (journal, sent, counts) = running.end();
    assert_eq!(taken(&journal), [(0, 1, 0), (1, 0, 0), (2, 1, 1)]);
    assert_eq!(sent, [0, 1, 2].map(|number| (Phase::Window, number)));
    assert_eq!((counts.intended, counts.sent, journal.counts().executions), (3, 3, 3));
}

#[test]
fn a_node_that_needs_all_inputs_runs_once_each_has_a_message_and_takes_the_newest() {
    let trigger = TriggerSpec::Message { when: Readiness::All };
    let running = Running::start(trigger, &[TakeSpec::Newest, TakeSpec::Newest], 0);
    running.offer(0, 0);
    running.offer(0, 1);
    running.offer(1, 0);
    let (journal, ..) = running.end();
    assert_eq!(taken(&journal), [(0, 0, 1), (0, 1, 0)]);
    assert_eq!(journal.counts().inputs[0].passed_over, 1);
}

#[test]
fn a_timer_runs_at_its_rate_and_takes_all_that_waits_in_a_queue() {
    let running = Running::start(TriggerSpec::Timer { rate_hz: 100.0 }, &[QUEUE], 0);
    (0..3).for_each(|sequence| running.offer(0, sequence));
    let (journal, ..) = running.end();
    let counts = journal.counts();
    assert_eq!(counts.executions + counts.skipped, 6);
    let took = taken(&journal);
    assert_eq!(
        took.iter().map(|(.., sequence)| *sequence).collect::<Vec<_>>(),
        [0, 1, 2]
    );
    assert!(took.iter().all(|(execution, ..)| *execution == took[0].0));
}

#[test]
fn a_timer_skips_the_instants_that_pass_while_it_computes() {
    let running = Running::start(TriggerSpec::Timer { rate_hz: 1000.0 }, &[QUEUE], 5_000_000);
    let (journal, _, sent) = running.end();
    let counts = journal.counts();
    assert_eq!(counts.executions + counts.skipped, 60);
    assert!(counts.skipped >= 30 && counts.executions > 0, "{counts:?}");
    assert!(u64::from(sent.sent) == counts.executions);
}

#[test]
fn a_source_runs_at_every_instant_and_numbers_the_window_apart() {
    let running = Running::start(TriggerSpec::Source { rate_hz: 500.0 }, &[], 0);
    let (journal, sent, counts) = running.end();
    let (before, within): (Vec<_>, Vec<_>) = sent.iter().partition(|(phase, _)| *phase == Phase::Approach);
    assert!(!before.is_empty());
    let in_window = journal.counts().executions;
    assert!((28..=30).contains(&in_window), "{in_window}");
    assert_eq!(within.last(), Some(&(Phase::Window, in_window as u32 - 1)));
    assert_eq!(u64::from(counts.sent), in_window);
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
