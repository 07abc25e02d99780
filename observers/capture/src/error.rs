//! Why a capture can't go on, each with an exit status of its own kind.

use std::io;

use thiserror::Error;

#[derive(Debug, Error)]
pub(crate) enum CaptureError {
    #[error("the front is gone")]
    Gone,
    #[error("this is not what it should be told: {reason}: {line}")]
    Nonsense { line: String, reason: String },
    #[error("there is no interface {name} in this network namespace: {source}")]
    Interface { name: String, source: io::Error },
    #[error("hearing every frame needs CAP_NET_RAW in this network namespace: {0}")]
    NotPermitted(io::Error),
    #[error("{doing} fails: {source}")]
    Machine { doing: String, source: io::Error },
    #[error("{path} can't be written: {reason}")]
    File { path: String, reason: String },
}

impl CaptureError {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Nonsense { .. } => 2,
            Self::Interface { .. } | Self::NotPermitted(_) => 3,
            Self::Gone | Self::Machine { .. } | Self::File { .. } => 4,
        }
    }
}
