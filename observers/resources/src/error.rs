//! Why the observer ended without its samples. A process that is gone, or a figure that can't be had, is no error.

use std::io;

/// What went wrong; the message says where.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WatchError {
    /// What the front said can't be understood: correct it.
    #[error("it was told nonsense: {line}: {reason}")]
    Nonsense { line: String, reason: String },
    /// The front is gone before it asked for the samples.
    #[error("the front is gone")]
    Gone,
    /// The front can't be written to.
    #[error("the front can't be told: {0}")]
    Front(#[source] io::Error),
}

impl WatchError {
    /// 2: what it was told; 4: the front is gone.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Nonsense { .. } => 2,
            Self::Gone | Self::Front(_) => 4,
        }
    }
}
