//! Nodes between the streams: a source, a node that runs on each of its messages, and one whose timer fires.
//!
//! The records of the three are joined as a reader of the results joins them; how long a middleware takes is not judged.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use middlemark_contract::{
    ComputeSpec, Execution, ExecutionInput, ExecutionOutput, NodeInput, NodeOutput, NodeSpec, PatternSpec, Readiness,
    StreamSpec, TakeSpec, TriggerSpec,
};

use crate::case::{Answer, Case};
use crate::checks::delivery;
use crate::outcome::{Outcome, records};
use crate::place::Place;
use crate::request::{Request, addresses};
use crate::trial::Trial;

const COMPUTE_NS: u64 = 300_000;
const RAW: &str = "raw";
const REFINED: &str = "refined";

pub(crate) fn compute_and_send(case: &Case) -> Result<Answer> {
    let place = Place::claim()?;
    let outcome = Trial::run(case, &place, request(case))?;
    delivery::check(&outcome)?;
    Recorded::of(&outcome)?.check()?;
    Ok(Answer::Passed)
}

/// `source → refine → decide`, each in an application of its own.
fn request(case: &Case) -> Request {
    let mut request = Request::new(case);
    request.window_ns = 300_000_000;
    let first = request.streams[0].clone();
    let stream = |name: &str, from: &str, to: &str| StreamSpec {
        name: name.into(),
        pattern: PatternSpec::Computed { rate_hz: Some(100.0) },
        publishers: addresses(from, 1),
        subscribers: addresses(to, 1),
        ..first.clone()
    };
    request.streams = vec![stream(RAW, "source", "refine"), stream(REFINED, "refine", "decide")];
    let on_message = TriggerSpec::Message { when: Readiness::Any };
    request.nodes = vec![
        node("source", 0, TriggerSpec::Source { rate_hz: 100.0 }, None, Some(RAW)),
        node("refine", 1, on_message, Some(RAW), Some(REFINED)),
        node("decide", 2, TriggerSpec::Timer { rate_hz: 50.0 }, Some(REFINED), None),
    ];
    request
}

fn node(
    name: &str,
    number: u16,
    trigger: TriggerSpec,
    input: Option<&str>,
    output: Option<&str>,
) -> (String, NodeSpec) {
    let inputs = input.map(|stream| NodeInput {
        stream: stream.into(),
        index: 0,
        take: TakeSpec::Queue { capacity: 64 },
    });
    let outputs = output.map(|stream| NodeOutput {
        stream: stream.into(),
        index: 0,
    });
    let spec = NodeSpec {
        name: name.into(),
        number,
        trigger,
        compute: ComputeSpec::Constant { time_ns: COMPUTE_NS },
        seed: 7,
        inputs: inputs.into_iter().collect(),
        outputs: outputs.into_iter().collect(),
    };
    (format!("{name}_0"), spec)
}

/// What the nodes recorded.
struct Recorded {
    executions: HashMap<(u16, u64), Execution>,
    inputs: Vec<ExecutionInput>,
    outputs: HashMap<(u16, u32), ExecutionOutput>,
}

impl Recorded {
    fn of(outcome: &Outcome) -> Result<Recorded> {
        let executions: Vec<Execution> = records(&outcome.files, ".executions.npy")?;
        let outputs: Vec<ExecutionOutput> = records(&outcome.files, ".outputs.npy")?;
        Ok(Recorded {
            executions: executions
                .iter()
                .map(|each| ((each.node, each.execution), *each))
                .collect(),
            inputs: records(&outcome.files, ".inputs.npy")?,
            outputs: outputs
                .iter()
                .map(|each| ((each.stream, each.sequence), *each))
                .collect(),
        })
    }

    /// Each message was sent by an execution and taken by one, in this order, and each execution computed.
    fn check(&self) -> Result<()> {
        for node in 0..3 {
            let ran = self.executions.keys().filter(|(number, _)| *number == node).count();
            ensure!(ran > 0, "the node {node} never ran within the window");
        }
        for execution in self.executions.values() {
            let computed_ns = execution.computed_ns - execution.started_ns;
            ensure!(
                computed_ns >= COMPUTE_NS as i64,
                "computed for {computed_ns} ns: {execution:?}"
            );
        }
        ensure!(
            self.inputs.iter().any(|input| input.stream == 0) && self.inputs.iter().any(|input| input.stream == 1),
            "a node took nothing: {:?}",
            self.inputs
        );
        self.inputs.iter().try_for_each(|input| self.check_input(input))
    }

    fn check_input(&self, input: &ExecutionInput) -> Result<()> {
        let output = self
            .outputs
            .get(&(input.stream, input.sequence))
            .with_context(|| format!("taken, but never sent: {input:?}"))?;
        let sender = self.execution(output.node, output.execution)?;
        let taker = self.execution(input.node, input.execution)?;
        let instants = [
            sender.started_ns,
            sender.computed_ns,
            output.sent_ns,
            input.received_ns,
            taker.started_ns,
            taker.computed_ns,
        ];
        ensure!(
            output.sent_ns == input.sent_ns && instants.is_sorted(),
            "a message's instants are out of order: {instants:?} {output:?} {input:?}"
        );
        Ok(())
    }

    fn execution(&self, node: u16, number: u64) -> Result<&Execution> {
        self.executions
            .get(&(node, number))
            .with_context(|| format!("the node {node} has no execution {number}"))
    }
}
