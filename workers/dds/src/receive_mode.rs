//! Who takes a reader's messages, and which trials a listener can't carry.
//!
//! A write from the library's receive thread may have to wait for an acknowledgement that this very thread would read.

use middlemark_contract::{ApplicationSpec, PatternSpec, Qos, Refusal, Reliability};
use middlemark_runtime::Options;

/// Who takes the messages of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveMode {
    /// A thread of the worker that sleeps while there are none.
    WaitsetThread,
    /// The library's receive thread.
    Listener,
    /// A thread of the worker that never sleeps.
    Polling,
}

impl ReceiveMode {
    /// The mode that the option `receive_mode` names.
    #[must_use]
    pub fn of(options: &Options) -> ReceiveMode {
        match options.text("receive_mode") {
            "listener" => ReceiveMode::Listener,
            "polling" => ReceiveMode::Polling,
            _ => ReceiveMode::WaitsetThread,
        }
    }

    /// It in words, for `effective`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            ReceiveMode::WaitsetThread => "a thread for each reader, waiting in a wait set",
            ReceiveMode::Listener => "listener on the library's receive thread",
            ReceiveMode::Polling => "a thread for each reader, polling without sleep",
        }
    }
}

/// Refuses a reliable ping-pong that a listener would answer, where an answer of such a QoS may wait; `reason` says why,
/// given the stream's name.
///
/// # Errors
/// The refusal.
pub fn refuse_listener(
    spec: &ApplicationSpec,
    options: &Options,
    waits: fn(&Qos) -> bool,
    reason: impl FnOnce(&str) -> String,
) -> Result<(), Refusal> {
    let waiting = spec.streams.iter().find(|stream| {
        matches!(stream.pattern, PatternSpec::PingPong { .. })
            && stream.qos.reliability == Reliability::Reliable
            && waits(&stream.qos)
    });
    match waiting {
        Some(stream) if ReceiveMode::of(options) == ReceiveMode::Listener => Err(Refusal {
            capability: "option".into(),
            reason: reason(&stream.name),
        }),
        _ => Ok(()),
    }
}
