//! The settings that all families share: how messages are received and how large the kernel's buffers are.
//!
//! It reads them from a worker's options, applies them, and reads back what the kernel granted; a family adds its own.

use std::collections::BTreeMap;
use std::io;

use middlemark_contract::OptionDescription;
use middlemark_runtime::options::{Options, choice, integer};
use socket2::Socket;

/// No buffer is asked to be larger.
const LARGEST_BUFFER_BYTES: i64 = 1 << 30;

/// How a receive thread waits for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveMode {
    /// In the receive call.
    Blocking,
    /// It calls again and again without waiting.
    Polling,
}

impl ReceiveMode {
    /// The mode that the options name.
    #[must_use]
    pub fn of(options: &Options) -> ReceiveMode {
        match options.text("receive_mode") {
            "polling" => ReceiveMode::Polling,
            _ => ReceiveMode::Blocking,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            ReceiveMode::Blocking => "blocking receive, one thread each",
            ReceiveMode::Polling => "polling receive, one thread each",
        }
    }
}

/// The sizes asked for the kernel's buffers; none: the kernel's own.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    receive_bytes: Option<usize>,
    send_bytes: Option<usize>,
}

impl Buffers {
    /// The sizes that the options name.
    #[must_use]
    pub fn of(options: &Options) -> Buffers {
        let asked = |name| usize::try_from(options.integer(name)).ok().filter(|bytes| *bytes > 0);
        Buffers {
            receive_bytes: asked("so_rcvbuf_bytes"),
            send_bytes: asked("so_sndbuf_bytes"),
        }
    }

    /// Asks the kernel for them.
    ///
    /// # Errors
    /// What the kernel refused; it grants less than asked without an error.
    pub fn apply(self, socket: &Socket) -> io::Result<()> {
        if let Some(bytes) = self.receive_bytes {
            socket.set_recv_buffer_size(bytes)?;
        }
        if let Some(bytes) = self.send_bytes {
            socket.set_send_buffer_size(bytes)?;
        }
        Ok(())
    }

    /// What the kernel granted, in its own count (twice what was asked, for its bookkeeping).
    ///
    /// # Errors
    /// What can't be read back.
    pub fn granted(self, socket: &Socket) -> io::Result<BTreeMap<String, String>> {
        Ok([
            ("so_rcvbuf_granted_bytes", socket.recv_buffer_size()?),
            ("so_sndbuf_granted_bytes", socket.send_buffer_size()?),
        ]
        .map(|(name, bytes)| (name.to_owned(), bytes.to_string()))
        .into())
    }
}

/// The options behind [`ReceiveMode`] and [`Buffers`].
#[must_use]
pub fn shared_options() -> Vec<OptionDescription> {
    vec![
        choice(
            "receive_mode",
            &["blocking", "polling"],
            "blocking",
            "Whether a receive thread waits in the kernel or calls again and again.",
        ),
        integer(
            "so_rcvbuf_bytes",
            0..=LARGEST_BUFFER_BYTES,
            0,
            "The receive buffer asked of the kernel, which caps it at net.core.rmem_max; 0 leaves the kernel's own.",
        ),
        integer(
            "so_sndbuf_bytes",
            0..=LARGEST_BUFFER_BYTES,
            0,
            "The send buffer asked of the kernel, which caps it at net.core.wmem_max; 0 leaves the kernel's own.",
        ),
    ]
}

/// The running kernel's release: the version of every socket.
#[must_use]
pub fn kernel_release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| "unknown".into(), |release| release.trim().to_owned())
}
