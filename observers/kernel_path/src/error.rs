//! Why nothing is recorded, and the exit status that says so.

use std::io;
use std::path::PathBuf;

/// What went wrong; the message names where, and what to do where something can be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ObserverError {
    /// The spec or a command can't be used: correct it.
    #[error("what was asked is not valid: {0}")]
    Asked(String),
    /// The machine doesn't let the kernel be observed.
    #[error(
        "the kernel can't be observed: {doing}: {source}; it takes root (CAP_BPF, CAP_PERFMON) and a kernel with BTF"
    )]
    Kernel {
        doing: &'static str,
        source: libbpf_rs::Error,
    },
    /// The kernel numbers processes otherwise than this process sees them.
    #[error("the kernel can't be observed from within a container: start middlemark on the machine itself")]
    Container,
    /// The recording can't be written.
    #[error("{path} can't be written: {source}", path = path.display())]
    Recording { path: PathBuf, source: io::Error },
    /// What devices have counted can't be read.
    #[error("the counters of network devices can't be read: {0}")]
    Counters(#[source] io::Error),
    /// The front can't be read or written.
    #[error("the front is gone: {0}")]
    Front(#[source] io::Error),
}

impl ObserverError {
    pub(crate) fn kernel(doing: &'static str) -> impl FnOnce(libbpf_rs::Error) -> Self {
        move |source| Self::Kernel { doing, source }
    }

    /// 2: what was asked; 3: the machine; 4: what no one foresaw.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Asked(_) => 2,
            Self::Kernel { .. } | Self::Container | Self::Counters(_) | Self::Recording { .. } => 3,
            Self::Front(_) => 4,
        }
    }
}
