//! One connection that messages are sent on: a bare socket of some kind, or one under a guard (`guard`).
//!
//! One system call a message, from the application's own buffer. Who sends is `publisher`'s, or a server's (`receive`).

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use libc::{MSG_DONTWAIT, MSG_NOSIGNAL};
use middlemark_contract::{Congestion, Qos};
use middlemark_runtime::PublishError;
use socket2::{Socket, Type};

/// How a socket keeps messages apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Without a connection; the kernel keeps the messages apart.
    Datagram,
    /// With a connection; the kernel keeps the messages apart.
    Packet,
    /// With a connection; messages have one size, by which both ends keep them apart.
    Stream,
}

impl Kind {
    pub(crate) fn socket_type(self) -> Type {
        match self {
            Kind::Datagram => Type::DGRAM,
            Kind::Packet => Type::SEQPACKET,
            Kind::Stream => Type::STREAM,
        }
    }
}

/// How messages are sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sending {
    kind: Kind,
    flags: i32,
    /// How long a send may wait for the receiver: before the first byte where it blocks, before the last in any case.
    patience: Duration,
    pub(crate) reports_absence_late: bool,
}

impl Sending {
    pub(crate) fn new(kind: Kind, qos: &Qos, reports_absence_late: bool) -> Sending {
        Sending {
            kind,
            flags: match qos.congestion {
                Congestion::Block => MSG_NOSIGNAL,
                Congestion::Drop => MSG_NOSIGNAL | MSG_DONTWAIT,
            },
            // The kernel takes none for no limit.
            patience: Duration::from_nanos(qos.patience_ns).max(Duration::from_micros(1)),
            reports_absence_late,
        }
    }

    /// Has the kernel give a send up after its patience.
    pub(crate) fn bound(&self, socket: &Socket) -> io::Result<()> {
        socket.set_write_timeout(Some(self.patience))
    }

    /// How long a message may wait for room before its first byte.
    pub(crate) fn waits_for_room(&self) -> Duration {
        if self.flags & MSG_DONTWAIT == 0 {
            self.patience
        } else {
            Duration::ZERO
        }
    }

    /// What a publisher is told of a message that was not sent.
    #[cold]
    pub(crate) fn refusal(&self, unsent: &Unsent) -> PublishError {
        let waited = self.flags & MSG_DONTWAIT == 0 || unsent.begun;
        match publish_error(&unsent.error) {
            PublishError::Full if waited => PublishError::TimedOut,
            refusal => refusal,
        }
    }
}

/// An end of a connection that messages are sent on.
pub(crate) trait Connection: Send + 'static {
    /// The socket that it sends on.
    fn socket(&self) -> &Socket;

    /// Sends a whole message, or none of it where there is no room.
    fn send(&mut self, message: &[u8], sending: Sending) -> Result<(), Unsent>;
}

impl Connection for Arc<Socket> {
    fn socket(&self) -> &Socket {
        self
    }

    #[inline]
    fn send(&mut self, message: &[u8], sending: Sending) -> Result<(), Unsent> {
        match sending.kind {
            Kind::Stream => send_whole(self, message, sending.flags),
            Kind::Packet | Kind::Datagram => match self.send_with_flags(message, sending.flags) {
                // What an earlier datagram met was told instead of sending this one.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused && sending.reports_absence_late => {
                    self.send_with_flags(message, sending.flags).map(drop)
                }
                result => result.map(drop),
            }
            .map_err(Unsent::whole),
        }
    }
}

/// Why a message was not sent, and whether a part of it was.
pub(crate) struct Unsent {
    pub(crate) error: io::Error,
    pub(crate) begun: bool,
}

impl Unsent {
    pub(crate) fn whole(error: io::Error) -> Unsent {
        Unsent { error, begun: false }
    }
}

/// Once its first byte is sent a message is sent whole, whatever congestion asks for, as long as the receiver takes some
/// of it within the patience: a stream can't drop half of it.
#[inline]
fn send_whole(socket: &Socket, message: &[u8], mut flags: i32) -> Result<(), Unsent> {
    let mut rest = message;
    while !rest.is_empty() {
        match socket.send_with_flags(rest, flags) {
            Ok(sent) => {
                rest = &rest[sent..];
                flags = MSG_NOSIGNAL;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                let begun = rest.len() < message.len();
                return Err(Unsent { error, begun });
            }
        }
    }
    Ok(())
}

#[cold]
fn publish_error(error: &io::Error) -> PublishError {
    match error.kind() {
        ErrorKind::WouldBlock => PublishError::Full,
        ErrorKind::BrokenPipe
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionRefused
        | ErrorKind::ConnectionAborted
        | ErrorKind::NotConnected
        | ErrorKind::TimedOut => PublishError::NotConnected,
        _ => PublishError::Failed {
            call: "send",
            code: i64::from(error.raw_os_error().unwrap_or(0)),
        },
    }
}
