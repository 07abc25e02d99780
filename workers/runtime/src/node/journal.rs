//! What a node notes of its executions: reserved and touched before the middleware exists, filled by its one thread.
//!
//! It allocates nothing while the node runs and writes nothing; `counts` writes it out after the window. An execution is
//! noted whole or, where the memory is full, only counted.

use middlemark_contract::{Execution, ExecutionInput, ExecutionOutput, InputCounts, NodeCounts, NodeSpec, Trigger};

use crate::message::header::Phase;
use crate::node::input_queue::{Arrived, InputReader};

/// What one node did.
pub(crate) struct Journal {
    node: u16,
    trigger: Trigger,
    pub(crate) executions: Vec<Execution>,
    pub(crate) inputs: Vec<ExecutionInput>,
    pub(crate) outputs: Vec<ExecutionOutput>,
    counts: NodeCounts,
}

/// When an execution began and when its computation was over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) started_ns: i64,
    pub(crate) computed_ns: i64,
}

/// A message that an execution handed over and the middleware accepted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accepted {
    pub(crate) stream: u16,
    pub(crate) sequence: u32,
    pub(crate) sent_ns: i64,
    pub(crate) fill_ns: i64,
}

impl Journal {
    /// With memory for so many executions and taken messages.
    pub(crate) fn new(spec: &NodeSpec, trigger: Trigger, executions: usize, messages: usize) -> Journal {
        let node = spec.number;
        Journal {
            node,
            trigger,
            executions: touched(executions),
            inputs: touched(messages),
            outputs: touched(executions * spec.outputs.len()),
            counts: NodeCounts {
                node: spec.name.clone(),
                first_execution_ns: None,
                executions: 0,
                skipped: 0,
                unrecorded: 0,
                inputs: spec.inputs.iter().map(|input| nothing_of(&input.stream)).collect(),
            },
        }
    }

    /// Notes when the node first ran.
    #[inline]
    pub(crate) fn ran(&mut self, started_ns: i64) {
        self.counts.first_execution_ns.get_or_insert(started_ns as u64);
    }

    /// An instant of the window at which it should have run and did not.
    pub(crate) fn skipped(&mut self) {
        self.counts.skipped += 1;
    }

    /// Notes an execution of the window.
    pub(crate) fn enter(&mut self, span: Span, taken: &[Arrived], sent: &[Accepted]) {
        let execution = self.counts.executions;
        self.counts.executions += 1;
        let in_window = || taken.iter().filter(|message| message.header.phase == Phase::Window);
        for message in in_window() {
            self.counts.inputs[usize::from(message.input)].taken += 1;
        }
        let is_full = has_no_room(&self.executions, 1)
            || has_no_room(&self.inputs, taken.len())
            || has_no_room(&self.outputs, sent.len());
        if is_full {
            self.counts.unrecorded += 1;
            return;
        }
        let node = self.node;
        self.executions.push(Execution {
            node,
            execution,
            trigger: self.trigger as u8,
            started_ns: span.started_ns,
            computed_ns: span.computed_ns,
        });
        self.inputs.extend(in_window().map(|message| ExecutionInput {
            node,
            execution,
            stream: message.header.channel / 2,
            publisher: message.header.publisher,
            sequence: message.header.sequence,
            sent_ns: message.header.sent_ns,
            received_ns: message.received_ns,
        }));
        self.outputs.extend(sent.iter().map(|message| ExecutionOutput {
            node,
            execution,
            stream: message.stream,
            sequence: message.sequence,
            sent_ns: message.sent_ns,
            fill_ns: message.fill_ns,
        }));
    }

    /// The node's counts, with what its inputs lost.
    pub(crate) fn close(&mut self, inputs: &[InputReader]) {
        for (counts, input) in self.counts.inputs.iter_mut().zip(inputs) {
            counts.passed_over = input.passed_over();
            counts.overflowed = input.overflowed();
        }
    }

    pub(crate) fn counts(&self) -> NodeCounts {
        self.counts.clone()
    }
}

fn touched<T: Copy + Default>(capacity: usize) -> Vec<T> {
    let mut places = vec![T::default(); capacity];
    places.clear();
    places
}

fn has_no_room<T>(places: &Vec<T>, more: usize) -> bool {
    places.len() + more > places.capacity()
}

fn nothing_of(stream: &str) -> InputCounts {
    InputCounts {
        stream: stream.into(),
        taken: 0,
        passed_over: 0,
        overflowed: 0,
    }
}
