//! A publisher: one connected socket for each subscriber, and a message handed to one after the other.
//!
//! The hot path is one system call a subscriber, from the application's own buffer; what is not connected is left to
//! the `connector` and picked up here.

use std::io::{self, ErrorKind};

use std::time::Duration;

use middlemark_contract::{Congestion, Qos};
use middlemark_runtime::{Publish, PublishError};
use socket2::Socket;

use crate::connector::Connector;
use crate::family::Kind;

const MSG_DONTWAIT: i32 = 0x40;
const MSG_NOSIGNAL: i32 = 0x4000;

/// How a publisher sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sending {
    kind: Kind,
    flags: i32,
    /// How long a send may wait for the receiver: before the first byte where it blocks, before the last in any case.
    patience: Duration,
    reports_absence_late: bool,
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

    /// How long a message may wait for room before its first byte.
    pub(crate) fn waits_for_room(&self) -> Duration {
        if self.flags & MSG_DONTWAIT == 0 {
            self.patience
        } else {
            Duration::ZERO
        }
    }
}

/// A publisher's end of a connection: a bare socket, or one under a guard.
pub(crate) trait Connection: Send + 'static {
    /// The socket that it sends on.
    fn socket(&self) -> &Socket;

    /// Sends a whole message, or none of it where there is no room.
    fn send(&mut self, message: &[u8], sending: Sending) -> Result<(), Unsent>;
}

impl Connection for Socket {
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

/// A publisher over connections.
pub(crate) struct SocketPublisher<C> {
    sending: Sending,
    connections: Vec<Option<C>>,
    missing: usize,
    connector: Connector<C>,
}

impl<C: Connection> SocketPublisher<C> {
    /// A publisher with the connections that could be made at once; the connector is asked for the others.
    pub(crate) fn new(
        sending: Sending,
        connections: Vec<Option<C>>,
        connector: Connector<C>,
    ) -> io::Result<SocketPublisher<C>> {
        let missing = connections.iter().filter(|connection| connection.is_none()).count();
        for (subscriber, connection) in connections.iter().enumerate() {
            match connection {
                Some(connection) => connection.socket().set_write_timeout(Some(sending.patience))?,
                None => connector.request(subscriber),
            }
        }
        Ok(SocketPublisher {
            sending,
            connections,
            missing,
            connector,
        })
    }

    #[cold]
    fn pick_up(&mut self) {
        while let Some((subscriber, connection)) = self.connector.made() {
            if connection
                .socket()
                .set_write_timeout(Some(self.sending.patience))
                .is_ok()
            {
                self.connections[subscriber] = Some(connection);
                self.missing -= 1;
            } else {
                self.connector.request(subscriber);
            }
        }
    }

    #[cold]
    fn give_up(&mut self, subscriber: usize) {
        self.connections[subscriber] = None;
        self.missing += 1;
        self.connector.request(subscriber);
    }

    #[cold]
    fn refusal(&self, unsent: &Unsent) -> PublishError {
        let waited = self.sending.flags & MSG_DONTWAIT == 0 || unsent.begun;
        match publish_error(&unsent.error) {
            PublishError::Full if waited => PublishError::TimedOut,
            refusal => refusal,
        }
    }
}

impl<C: Connection> Publish for SocketPublisher<C> {
    /// Accepted where at least one subscriber's socket took it.
    #[inline]
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        if self.missing > 0 {
            self.pick_up();
        }
        let mut accepted = false;
        let mut refusal = PublishError::NotConnected;
        for subscriber in 0..self.connections.len() {
            let Some(connection) = &mut self.connections[subscriber] else {
                continue;
            };
            match connection.send(message, self.sending) {
                Ok(()) => accepted = true,
                Err(unsent) => {
                    refusal = self.refusal(&unsent);
                    let lost = refusal == PublishError::NotConnected && !self.sending.reports_absence_late;
                    // Half a message is in the stream: nothing can follow it.
                    if lost || unsent.begun {
                        self.give_up(subscriber);
                    }
                }
            }
        }
        if accepted { Ok(()) } else { Err(refusal) }
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
