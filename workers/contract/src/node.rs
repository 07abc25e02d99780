//! A node of a chain: what makes it run, how long it computes, what it reads and what it sends.
//!
//! Nodes live in an application above its publishers and subscribers; a middleware sees nothing of them but messages.
//! Which nodes make a chain is the front's knowledge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One node that an application executes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Its name, unique within the trial.
    pub name: String,
    /// Its position among all nodes of the trial, by which the records name it.
    pub number: u16,
    /// What makes it run.
    pub trigger: TriggerSpec,
    /// The CPU time that each execution really spends before it sends.
    pub compute: ComputeSpec,
    /// The same seed gives the same times to compute.
    pub seed: u64,
    /// What it reads: subscribers of this application that no other node has.
    pub inputs: Vec<NodeInput>,
    /// What each execution sends, in this order: publishers of this application, of streams with [`crate::PatternSpec::Computed`].
    pub outputs: Vec<NodeOutput>,
}

/// What makes a node run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum TriggerSpec {
    /// It has no input and runs by an absolute schedule; what is overdue runs at once.
    Source {
        /// Executions a second.
        rate_hz: f64,
    },
    /// It has no input and runs again as soon as its last execution is over.
    Unthrottled {
        /// Executions a second before the window.
        approach_hz: f64,
    },
    /// It runs when its timer fires, with whatever its inputs have by then;
    /// an instant whose successor has come too is skipped.
    Timer {
        /// Executions a second.
        rate_hz: f64,
    },
    /// It runs when messages come.
    Message {
        /// How many of its inputs have to have one.
        when: Readiness,
    },
}

/// How many inputs have to have a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// Each message is an execution of its own, in the order in which they came; all inputs share one queue.
    Any,
    /// An execution takes from every input, once each has something.
    All,
}

/// One stream that a node reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeInput {
    /// The stream's name.
    pub stream: String,
    /// The subscriber's index.
    pub index: u16,
    /// Which of the messages that wait are taken.
    pub take: TakeSpec,
}

/// Which of the messages that wait at an input an execution takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum TakeSpec {
    /// The newest; those before it are passed over.
    Newest,
    /// In the order in which they came: a timer takes all, a message's execution one.
    Queue {
        /// How many may wait; what comes then overflows and is never taken.
        #[schemars(range(min = 1, max = 65536))]
        capacity: u32,
    },
}

/// One stream that a node sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeOutput {
    /// The stream's name.
    pub stream: String,
    /// The publisher's index.
    pub index: u16,
}

/// How long an execution of a node, or a server for a response, computes, as CPU time of its thread; what is drawn below zero counts as zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum ComputeSpec {
    /// Always the same.
    Constant {
        /// How long.
        time_ns: u64,
    },
    /// Every time between two, alike.
    Uniform {
        /// The shortest.
        minimum_ns: u64,
        /// The longest.
        maximum_ns: u64,
    },
    /// An exponential distribution.
    Exponential {
        /// Its mean.
        mean_ns: u64,
    },
    /// A normal distribution.
    Normal {
        /// Its mean.
        mean_ns: u64,
        /// Its standard deviation.
        deviation_ns: u64,
    },
    /// A lognormal distribution.
    Lognormal {
        /// The mean of the time itself, not of its logarithm.
        mean_ns: u64,
        /// The standard deviation of the time itself.
        deviation_ns: u64,
    },
}

/// What one node did within the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeCounts {
    /// The node's name.
    pub node: String,
    /// When it first ran, before the window as a rule; none: it never did.
    pub first_execution_ns: Option<u64>,
    /// Executions that began within the window.
    pub executions: u64,
    /// Instants of its timer within the window at which it did not run, as the next one had come too.
    pub skipped: u64,
    /// Executions for which the sample memory did not suffice.
    pub unrecorded: u64,
    /// One entry an input.
    pub inputs: Vec<InputCounts>,
}

/// What became of the window's messages at one input of a node. Those that are in none of these waited at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputCounts {
    /// The stream's name.
    pub stream: String,
    /// Messages that executions of the window took.
    pub taken: u64,
    /// Messages that a newer one replaced before they were taken.
    pub passed_over: u64,
    /// Messages that found the queue full.
    pub overflowed: u64,
}
