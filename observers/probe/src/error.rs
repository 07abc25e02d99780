//! Why the probe ended without a result, and the exit status that says so. A dead link is a result, not an error.

use std::io;

/// What went wrong; the message names where, and what to do where something can be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProbeError {
    /// The spec can't be used: correct it.
    #[error("the spec is not valid: {0}")]
    Spec(String),
    /// The machine refused something that is needed.
    #[error("while {doing}: {source}")]
    Machine { doing: String, source: io::Error },
    /// The front can't be read or written.
    #[error("the front is gone: {0}")]
    Front(#[source] io::Error),
}

impl ProbeError {
    pub(crate) fn machine(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        |source| Self::Machine { doing, source }
    }

    /// 2: the spec; 3: the machine; 4: what no one foresaw.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Spec(_) => 2,
            Self::Machine { .. } => 3,
            Self::Front(_) => 4,
        }
    }
}
