//! Why the relay ended otherwise than requested, and the exit status that says so.

use std::io;

/// What went wrong; the message names where, and what to do where something can be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RelayError {
    /// The spec can't be used: correct it.
    #[error("the spec is not valid: {0}")]
    Spec(String),
    /// Standard input ended before it held a spec.
    #[error("the spec is missing: it is the first line of standard input")]
    NoSpec,
    /// There is no such interface in this network namespace.
    #[error("there is no interface `{name}` in this network namespace: {source}")]
    Interface { name: String, source: io::Error },
    /// Raw frames may not be read here.
    #[error("raw frames need CAP_NET_RAW in this network namespace: run as root, or in a user namespace of your own")]
    NotPermitted(#[source] io::Error),
    /// The requested priority is not permitted.
    #[error("SCHED_FIFO priority {priority} is refused ({source}): leave `priority` out, or grant CAP_SYS_NICE")]
    Priority { priority: i32, source: io::Error },
    /// The machine refused something that is needed.
    #[error("while {doing}: {source}")]
    Machine { doing: String, source: io::Error },
    /// The front can't be read or written.
    #[error("the front is gone: {0}")]
    Front(#[source] io::Error),
}

impl RelayError {
    /// 2: the spec; 3: the machine; 4: what no one foresaw.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Spec(_) | Self::NoSpec => 2,
            Self::Interface { .. } | Self::NotPermitted(_) | Self::Priority { .. } | Self::Machine { .. } => 3,
            Self::Front(_) => 4,
        }
    }
}
