//! A publisher: one connected socket for each subscriber, and a message handed to one after the other.
//!
//! The hot path is one system call a subscriber, from the application's own buffer or, for small messages of a stream,
//! from a frame joined before; what is not connected is left to the `connector` and picked up here.

use std::io::{self, ErrorKind, IoSlice};

use middlemark_contract::Congestion;
use middlemark_runtime::{Publish, PublishError};
use socket2::Socket;

use crate::connector::Connector;
use crate::family::Kind;
use crate::framing::{PREFIX_BYTES, prefix};

const MSG_DONTWAIT: i32 = 0x40;
const MSG_NOSIGNAL: i32 = 0x4000;

/// Up to here a stream's message is copied behind its length: the kernel takes one piece about 150 ns sooner than two,
/// which is what copying so many bytes takes.
const JOINED_BYTES: usize = 4096;

/// A publisher over sockets.
pub(crate) struct Outlet {
    kind: Kind,
    flags: i32,
    reports_absence_late: bool,
    sockets: Vec<Option<Socket>>,
    missing: usize,
    connector: Connector,
    frame: Vec<u8>,
}

impl Outlet {
    /// A publisher with the connections that could be made at once; the connector is asked for the others.
    pub(crate) fn new(
        kind: Kind,
        congestion: Congestion,
        reports_absence_late: bool,
        sockets: Vec<Option<Socket>>,
        connector: Connector,
    ) -> Outlet {
        let missing = sockets.iter().filter(|socket| socket.is_none()).count();
        for (subscriber, socket) in sockets.iter().enumerate() {
            if socket.is_none() {
                connector.request(subscriber);
            }
        }
        Outlet {
            kind,
            flags: match congestion {
                Congestion::Block => MSG_NOSIGNAL,
                Congestion::Drop => MSG_NOSIGNAL | MSG_DONTWAIT,
            },
            reports_absence_late,
            sockets,
            missing,
            connector,
            frame: Vec::with_capacity(PREFIX_BYTES + JOINED_BYTES),
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
            Kind::Stream if self.frame.is_empty() => send_pieces(socket, message, self.flags),
            Kind::Stream => send_whole(socket, &self.frame, self.flags),
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

impl Publish for Outlet {
    /// Accepted where at least one subscriber's socket took it.
    #[inline]
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        if self.missing > 0 {
            self.pick_up();
        }
        self.frame.clear();
        if self.kind == Kind::Stream && message.len() <= JOINED_BYTES {
            self.frame.extend_from_slice(&prefix(message.len()));
            self.frame.extend_from_slice(message);
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

/// Sends a length and a message without joining them.
#[inline]
fn send_pieces(socket: &Socket, message: &[u8], flags: i32) -> io::Result<()> {
    let length = prefix(message.len());
    let sent = retry(|| socket.send_vectored_with_flags(&[IoSlice::new(&length), IoSlice::new(message)], flags))?;
    match sent.checked_sub(PREFIX_BYTES) {
        Some(sent) => send_rest(socket, &message[sent..]),
        None => send_rest(socket, &length[sent..]).and_then(|()| send_rest(socket, message)),
    }
}

#[inline]
fn send_whole(socket: &Socket, frame: &[u8], flags: i32) -> io::Result<()> {
    let sent = retry(|| socket.send_with_flags(frame, flags))?;
    send_rest(socket, &frame[sent..])
}

/// Once its first byte is sent a frame is sent whole, whatever congestion asks for: a stream can't drop half of it.
#[inline]
fn send_rest(socket: &Socket, mut rest: &[u8]) -> io::Result<()> {
    while !rest.is_empty() {
        let sent = retry(|| socket.send_with_flags(rest, MSG_NOSIGNAL))?;
        rest = &rest[sent..];
    }
    Ok(())
}

#[inline]
fn retry(mut send: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match send() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
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
