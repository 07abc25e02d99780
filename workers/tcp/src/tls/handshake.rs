//! The handshake of both ends, over a socket that blocks, and the subscriber's answer to it.
//!
//! A client of TLS 1.3 is done before the server has seen its certificate; so the subscriber says in one byte whether the
//! publisher is let in, and both know when the handshake is over.

use std::io::{self, ErrorKind, Read, Write};

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData, InsufficientSizeError, UnbufferedStatus};
use socket2::Socket;

/// What is read of a connection at once: several of TLS's records.
const WIRE_BYTES: usize = 256 * 1024;
/// Room for a whole flight of the handshake, were the certificate to name a thousand channels.
const FLIGHT_BYTES: usize = 128 * 1024;

const ADMITTED: u8 = 1;
const TURNED_AWAY: u8 = 0;

/// One end of a connection, as rustls has it.
pub(super) trait End {
    /// What tells the ends apart.
    type Data;

    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data>;

    fn is_handshaking(&self) -> bool;
}

impl End for UnbufferedClientConnection {
    type Data = ClientConnectionData;

    #[inline]
    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(incoming)
    }

    fn is_handshaking(&self) -> bool {
        (**self).is_handshaking()
    }
}

impl End for UnbufferedServerConnection {
    type Data = ServerConnectionData;

    #[inline]
    fn process<'c, 'i>(&'c mut self, incoming: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(incoming)
    }

    fn is_handshaking(&self) -> bool {
        (**self).is_handshaking()
    }
}

/// The bytes that have come and that TLS has not taken yet.
pub(super) struct Wire {
    bytes: Vec<u8>,
    taken: usize,
    filled: usize,
}

impl Default for Wire {
    fn default() -> Wire {
        Wire {
            bytes: vec![0; WIRE_BYTES],
            taken: 0,
            filled: 0,
        }
    }
}

impl Wire {
    #[inline]
    pub(super) fn pending(&mut self) -> &mut [u8] {
        &mut self.bytes[self.taken..self.filled]
    }

    #[inline]
    pub(super) fn discard(&mut self, count: usize) {
        self.taken += count;
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        }
    }

    /// Reads once; false at the end of the stream.
    #[inline]
    pub(super) fn read(&mut self, stream: &mut impl Read) -> io::Result<bool> {
        if self.filled == self.bytes.len() {
            // Part of a record, which is small, stands at the buffer's end.
            self.bytes.copy_within(self.taken..self.filled, 0);
            (self.taken, self.filled) = (0, self.filled - self.taken);
        }
        let read = stream.read(&mut self.bytes[self.filled..])?;
        self.filled += read;
        Ok(read > 0)
    }
}

/// What TLS has to send of its own, until it is sent.
#[derive(Default)]
pub(super) struct Flight(Vec<u8>);

impl Flight {
    pub(super) fn encode<Data>(&mut self, mut data: EncodeTlsData<'_, Data>) -> io::Result<()> {
        let before = self.0.len();
        self.0.resize(before + FLIGHT_BYTES, 0);
        let encoded = match data.encode(&mut self.0[before..]) {
            Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) => {
                self.0.resize(before + required_size, 0);
                data.encode(&mut self.0[before..])
            }
            encoded => encoded,
        };
        self.0.truncate(before + encoded.map_err(io::Error::other)?);
        Ok(())
    }

    pub(super) fn send(&mut self, mut socket: &Socket) -> io::Result<()> {
        socket.write_all(&self.0)?;
        self.0.clear();
        Ok(())
    }
}

/// Brings one end through the handshake; where it fails by TLS, the peer is told first.
pub(super) fn shake_hands(end: &mut impl End, wire: &mut Wire, socket: &Socket) -> io::Result<()> {
    let (mut flight, mut failure) = (Flight::default(), None);
    loop {
        let is_over = !end.is_handshaking();
        let UnbufferedStatus { discard, state } = end.process(wire.pending());
        let waits = match state {
            Ok(ConnectionState::EncodeTlsData(data)) => flight.encode(data).map(|()| false)?,
            Ok(ConnectionState::TransmitTlsData(data)) => {
                let sent = flight.send(socket);
                data.done();
                sent.map(|()| false)?
            }
            Ok(ConnectionState::BlockedHandshake) => true,
            Ok(ConnectionState::WriteTraffic(_) | ConnectionState::ReadTraffic(_)) if is_over => {
                wire.discard(discard);
                return Ok(());
            }
            // It has come to its end with this step, which the next one sees.
            Ok(ConnectionState::WriteTraffic(_) | ConnectionState::ReadTraffic(_)) => false,
            Ok(_) => return Err(ErrorKind::UnexpectedEof.into()),
            // The alert that says so comes with the next steps.
            Err(error) => match failure.take() {
                None => {
                    failure = Some(error);
                    false
                }
                Some(first) => {
                    flight.send(socket)?;
                    return Err(refused(first));
                }
            },
        };
        wire.discard(discard);
        if waits {
            if let Some(first) = failure {
                return Err(refused(first));
            }
            if !wire.read(&mut &*socket)? {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Tells the publisher whether it is let in.
pub(super) fn answer(end: &mut impl End, is_admitted: bool, mut socket: &Socket) -> io::Result<()> {
    let byte = if is_admitted { ADMITTED } else { TURNED_AWAY };
    let mut record = [0; 64];
    match end.process(&mut []).state.map_err(refused)? {
        ConnectionState::WriteTraffic(mut traffic) => {
            let length = traffic.encrypt(&[byte], &mut record).map_err(io::Error::other)?;
            socket.write_all(&record[..length])
        }
        other => Err(unready(&other)),
    }
}

/// Waits for that.
pub(super) fn wait_for_answer(end: &mut impl End, wire: &mut Wire, socket: &Socket) -> io::Result<()> {
    loop {
        let UnbufferedStatus { discard, state } = end.process(wire.pending());
        let answered = match state.map_err(refused)? {
            ConnectionState::ReadTraffic(mut traffic) => match traffic.next_record() {
                Some(record) => Some(record.map_err(refused)?.payload == [ADMITTED]),
                None => None,
            },
            ConnectionState::WriteTraffic(_) | ConnectionState::BlockedHandshake => None,
            _ => return Err(ErrorKind::UnexpectedEof.into()),
        };
        wire.discard(discard);
        match answered {
            Some(true) => return Ok(()),
            Some(false) => {
                let message = "this application's certificate does not let it publish there";
                return Err(io::Error::new(ErrorKind::PermissionDenied, message));
            }
            None if wire.read(&mut &*socket)? => {}
            None => return Err(ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// Why nothing can be sent over a connection in this state.
pub(super) fn unready<Data>(state: &ConnectionState<'_, '_, Data>) -> io::Error {
    io::Error::other(match state {
        ConnectionState::PeerClosed | ConnectionState::Closed => {
            "nothing can be sent over TLS: the connection is closed"
        }
        ConnectionState::BlockedHandshake => "nothing can be sent over TLS: the handshake is not over",
        _ => "nothing can be sent over TLS: the other end sent what was not expected",
    })
}

/// What TLS refuses it refuses again.
pub(super) fn refused(error: rustls::Error) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, error)
}
