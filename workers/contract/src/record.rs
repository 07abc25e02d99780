//! The records of a trial's samples: the structured dtypes of the `.npy` files that an application leaves.
//!
//! `<application>.received.npy` holds [`Received`], `<application>.published.npy` holds [`Published`]; only messages of
//! the measured window are in them, in the order in which they came. Messages beyond the reserved memory are in
//! `<application>.beyond.hlog`, an `HdrHistogram` log of latencies from the actual send, one tagged entry a flow
//! (`<stream>.<publisher>.<subscriber>`, answers with a trailing `.answers`).
//!
//! An application with nodes leaves `<application>.executions.npy`, `.inputs.npy` and `.outputs.npy` too, which hold
//! [`Execution`], [`ExecutionInput`] and [`ExecutionOutput`]: executions that began within the window, with the window's
//! messages that they took and sent.

use npyz::{AutoSerialize, Deserialize, Serialize};
use schemars::JsonSchema;

/// One message at one subscriber (for an answer: at the client that sent its question).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, AutoSerialize, Deserialize, Serialize, JsonSchema)]
pub struct Received {
    /// The stream's position in the spec's `streams`.
    pub stream: u16,
    /// 1 for a ping-pong's answer, else 0.
    pub answer: u16,
    /// The publisher's index; for an answer, the client's index.
    pub publisher: u16,
    /// The subscriber's index; for an answer, the index of the subscriber that answered.
    pub subscriber: u16,
    /// The message's sequence number; an answer has that of its question.
    pub sequence: u32,
    /// When the message was to be sent, filling taken off: its instant and the `fill_ns` of [`Published`]. For an answer, when
    /// its question was sent and what filling the answer took: `received_ns - intended_ns` is then the round trip.
    pub intended_ns: i64,
    /// When the message was handed to the middleware.
    pub sent_ns: i64,
    /// When the middleware handed it over.
    pub received_ns: i64,
    /// What deserialising it took after that; 0 where its payload is octets, or plain.
    pub deserialise_ns: u32,
}

/// One message at its publisher.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, AutoSerialize, Deserialize, Serialize, JsonSchema)]
pub struct Published {
    /// The stream's position in the spec's `streams`.
    pub stream: u16,
    /// The publisher's index.
    pub publisher: u16,
    /// The message's sequence number.
    pub sequence: u32,
    /// When it was to be sent.
    pub intended_ns: i64,
    /// When it was handed to the middleware.
    pub sent_ns: i64,
    /// When the publish call came back.
    pub returned_ns: i64,
    /// By how much filling delayed it: what writing its own body took, and of the bodies of messages before it what it had
    /// to wait for. `sent_ns - intended_ns - fill_ns` is how late it was.
    pub fill_ns: i64,
    /// The part of filling its own body in which it was serialised; 0 where its payload is octets, or plain.
    pub serialise_ns: u32,
    /// 1 where the middleware accepted it, 0 where it refused.
    pub accepted: u8,
}

/// What made a node run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Trigger {
    /// Messages came.
    Message = 0,
    /// Its timer fired.
    Timer = 1,
    /// Its schedule, without any input.
    Source = 2,
}

/// One execution of a node.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, AutoSerialize, Deserialize, Serialize, JsonSchema)]
pub struct Execution {
    /// The node's number.
    pub node: u16,
    /// Its number among those of this node within the window, from 0.
    pub execution: u64,
    /// What made it run: 0 a message, 1 a timer, 2 a source's schedule ([`Trigger`]).
    pub trigger: u8,
    /// When it began.
    pub started_ns: i64,
    /// When its computation was over.
    pub computed_ns: i64,
}

/// One message that an execution took.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, AutoSerialize, Deserialize, Serialize, JsonSchema)]
pub struct ExecutionInput {
    /// The node's number.
    pub node: u16,
    /// The execution's number.
    pub execution: u64,
    /// The stream's position in the spec's `streams`.
    pub stream: u16,
    /// The publisher's index.
    pub publisher: u16,
    /// The message's sequence number.
    pub sequence: u32,
    /// When the message was handed to the middleware.
    pub sent_ns: i64,
    /// When the middleware handed it over.
    pub received_ns: i64,
}

/// One message that an execution sent and the middleware accepted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, AutoSerialize, Deserialize, Serialize, JsonSchema)]
pub struct ExecutionOutput {
    /// The node's number.
    pub node: u16,
    /// The execution's number.
    pub execution: u64,
    /// The stream's position in the spec's `streams`.
    pub stream: u16,
    /// The message's sequence number.
    pub sequence: u32,
    /// When the message was handed to the middleware.
    pub sent_ns: i64,
    /// By how much filling delayed it since the computation was over: its own body, and those that were sent before it.
    pub fill_ns: i64,
}
