//! A publisher: one connected socket for each subscriber, and a message handed to one after the other.
//!
//! The hot path is one system call a subscriber, from the application's own buffer; what is not connected is left to
//! the `connector` and picked up here.

use std::io::{self, ErrorKind};

use middlemark_contract::Congestion;
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
    reports_absence_late: bool,
    sockets: Vec<Option<Socket>>,
    missing: usize,
    connector: Connector,
}

impl SocketPublisher {
    /// A publisher with the connections that could be made at once; the connector is asked for the others.
    pub(crate) fn new(
        kind: Kind,
        congestion: Congestion,
        reports_absence_late: bool,
        sockets: Vec<Option<Socket>>,
        connector: Connector,
    ) -> SocketPublisher {
        let missing = sockets.iter().filter(|socket| socket.is_none()).count();
        for (subscriber, socket) in sockets.iter().enumerate() {
            if socket.is_none() {
                connector.request(subscriber);
            }
        }
        SocketPublisher {
            kind,
            flags: match congestion {
                Congestion::Block => MSG_NOSIGNAL,
                Congestion::Drop => MSG_NOSIGNAL | MSG_DONTWAIT,
            },
            reports_absence_late,
            sockets,
            missing,
            connector,
        }
    }

    #[cold]
    fn pick_up(&mut self) {
        while let Some((subscriber, socket)) = self.connector.made() {
            self.sockets[subscriber] = Some(socket);
            self.missing -= 1;
        }
    }

    #[cold]
    fn give_up(&mut self, subscriber: usize) {
        self.sockets[subscriber] = None;
        self.missing += 1;
        self.connector.request(subscriber);
    }

    #[inline]
    fn send(&self, socket: &Socket, message: &[u8]) -> io::Result<()> {
        match self.kind {
            Kind::Stream => send_whole(socket, message, self.flags),
            Kind::Packet | Kind::Datagram => match socket.send_with_flags(message, self.flags) {
                // What an earlier datagram met was told instead of sending this one.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused && self.reports_absence_late => {
                    socket.send_with_flags(message, self.flags).map(drop)
                }
                result => result.map(drop),
            },
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
                Err(error) => {
                    refusal = publish_error(&error);
                    if refusal == PublishError::NotConnected && !self.reports_absence_late {
                        self.give_up(subscriber);
                    }
                }
            }
        }
        if accepted { Ok(()) } else { Err(refusal) }
    }
}

/// Once its first byte is sent a message is sent whole, whatever congestion asks for: a stream can't drop half of it.
#[inline]
fn send_whole(socket: &Socket, mut rest: &[u8], mut flags: i32) -> io::Result<()> {
    while !rest.is_empty() {
        match socket.send_with_flags(rest, flags) {
            Ok(sent) => {
                rest = &rest[sent..];
                flags = MSG_NOSIGNAL;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
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
