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

/// A publisher over sockets.
pub(crate) struct SocketPublisher {
    kind: Kind,
    flags: i32,
    /// How long a send may wait for the receiver: before the first byte where it blocks, before the last in any case.
    patience: Duration,
    reports_absence_late: bool,
    sockets: Vec<Option<Socket>>,
    missing: usize,
    connector: Connector,
}

impl SocketPublisher {
    /// A publisher with the connections that could be made at once; the connector is asked for the others.
    pub(crate) fn new(
        kind: Kind,
        qos: &Qos,
        reports_absence_late: bool,
        sockets: Vec<Option<Socket>>,
        connector: Connector,
    ) -> io::Result<SocketPublisher> {
        // The kernel takes none for no limit.
        let patience = Duration::from_nanos(qos.patience_ns).max(Duration::from_micros(1));
        let missing = sockets.iter().filter(|socket| socket.is_none()).count();
        for (subscriber, socket) in sockets.iter().enumerate() {
            match socket {
                Some(socket) => socket.set_write_timeout(Some(patience))?,
                None => connector.request(subscriber),
            }
        }
        Ok(SocketPublisher {
            kind,
            flags: match qos.congestion {
                Congestion::Block => MSG_NOSIGNAL,
                Congestion::Drop => MSG_NOSIGNAL | MSG_DONTWAIT,
            },
            patience,
            reports_absence_late,
            sockets,
            missing,
            connector,
        })
    }

    #[cold]
    fn pick_up(&mut self) {
        while let Some((subscriber, socket)) = self.connector.made() {
            if socket.set_write_timeout(Some(self.patience)).is_ok() {
                self.sockets[subscriber] = Some(socket);
                self.missing -= 1;
            } else {
                self.connector.request(subscriber);
            }
        }
    }

    #[cold]
    fn give_up(&mut self, subscriber: usize) {
        self.sockets[subscriber] = None;
        self.missing += 1;
        self.connector.request(subscriber);
    }

    #[inline]
    fn send(&self, socket: &Socket, message: &[u8]) -> Result<(), Unsent> {
        match self.kind {
            Kind::Stream => send_whole(socket, message, self.flags),
            Kind::Packet | Kind::Datagram => match socket.send_with_flags(message, self.flags) {
                // What an earlier datagram met was told instead of sending this one.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused && self.reports_absence_late => {
                    socket.send_with_flags(message, self.flags).map(drop)
                }
                result => result.map(drop),
            }
            .map_err(Unsent::whole),
        }
    }

    #[cold]
    fn refusal(&self, unsent: &Unsent) -> PublishError {
        let waited = self.flags & MSG_DONTWAIT == 0 || unsent.begun;
        match publish_error(&unsent.error) {
            PublishError::Full if waited => PublishError::TimedOut,
            refusal => refusal,
        }
    }
}

impl Publish for SocketPublisher {
    /// Accepted where at least one subscriber's socket took it.
    #[inline]
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        if self.missing > 0 {
            self.pick_up();
        }
        let mut accepted = false;
        let mut refusal = PublishError::NotConnected;
        for subscriber in 0..self.sockets.len() {
            let Some(socket) = &self.sockets[subscriber] else {
                continue;
            };
            match self.send(socket, message) {
                Ok(()) => accepted = true,
                Err(unsent) => {
                    refusal = self.refusal(&unsent);
                    let lost = refusal == PublishError::NotConnected && !self.reports_absence_late;
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
struct Unsent {
    error: io::Error,
    begun: bool,
}

impl Unsent {
    fn whole(error: io::Error) -> Unsent {
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
