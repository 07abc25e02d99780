//! The settings that all families share: who receives messages and how large the kernel's buffers are.
//!
//! It reads them from a worker's options, applies them, and reads back what the kernel granted; a family adds its own.

pub(crate) mod queue;

use std::collections::BTreeMap;
use std::io;

use middlemark_contract::{Deliveries, Delivery, DeliveryDescription, LackingDelivery, OptionDescription};
use middlemark_runtime::options::{Options, integer};
use socket2::Socket;

use crate::family::Buffered;

/// No larger buffer is requested.
const LARGEST_BUFFER_BYTES: i64 = 1 << 30;

/// The deliveries of sockets.
#[must_use]
pub fn deliveries() -> Deliveries {
    Deliveries {
        default: Delivery::OwnThread,
        has: vec![
            DeliveryDescription::new(
                Delivery::OwnThread,
                "A thread for each socket waits in the receive call.",
                "recv(2): \"If no messages are available at the socket, the receive calls wait\"; so does sockperf",
            ),
            DeliveryDescription::new(
                Delivery::Polling,
                "A thread for each socket calls a receive that doesn't wait again and again.",
                "recv(2), EAGAIN; sockperf with --nonblocked",
            ),
        ],
        lacks: vec![LackingDelivery::new(
            Delivery::LibraryThread,
            "the kernel calls nobody with a message",
        )],
    }
}

/// The requested sizes of the kernel's buffers; none: the kernel's own.
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
    /// What the kernel refused; it grants less than requested without an error.
    pub fn apply(self, socket: &Socket) -> io::Result<()> {
        if let Some(bytes) = self.receive_bytes {
            socket.set_recv_buffer_size(bytes)?;
        }
        if let Some(bytes) = self.send_bytes {
            socket.set_send_buffer_size(bytes)?;
        }
        Ok(())
    }

    /// How large the buffers of a configured socket are, in the kernel's own count.
    ///
    /// # Errors
    /// What can't be read back.
    pub fn most(self, socket: &Socket) -> io::Result<Buffered> {
        Ok(Buffered {
            to_send: socket.send_buffer_size()?,
            to_receive: Some(socket.recv_buffer_size()?),
        })
    }

    /// The same where the kernel lets those buffers grow that no option sizes, up to these limits.
    ///
    /// # Errors
    /// What can't be read back.
    pub fn most_grown(self, socket: &Socket, limits: Buffered) -> io::Result<Buffered> {
        let most = self.most(socket)?;
        let to_receive = if self.receive_bytes.is_some() {
            most.to_receive
        } else {
            limits.to_receive
        };
        let to_send = if self.send_bytes.is_some() {
            most.to_send
        } else {
            limits.to_send
        };
        Ok(Buffered { to_send, to_receive })
    }

    /// What the kernel granted, in its own count (twice what was requested, for its bookkeeping).
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

/// The options behind [`Buffers`].
#[must_use]
pub fn shared_options() -> Vec<OptionDescription> {
    vec![
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
