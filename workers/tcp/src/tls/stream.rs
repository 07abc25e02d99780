//! Messages over TLS: encrypted into one buffer and sent from it, read into one buffer and decrypted from it.

use std::io::{self, Read, Write};

use middlemark_sockets::GuardedWriter;
use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, UnbufferedStatus};
use socket2::Socket;

use crate::tls::handshake::{End, Flight, Wire, refused};

/// How much of a message is encrypted before it is sent: four records of TLS, so that the kernel and the peer begin with
/// the first while the next are encrypted.
const PIECE_BYTES: usize = 64 * 1024;
/// What a record adds is 22 bytes; a change of keys fits in too.
const PROTECTED_BYTES: usize = PIECE_BYTES + 1024;

pub(super) struct TlsWriter {
    connection: UnbufferedClientConnection,
    socket: Socket,
    protected: Vec<u8>,
}

impl TlsWriter {
    pub(super) fn new(connection: UnbufferedClientConnection, socket: Socket) -> TlsWriter {
        TlsWriter {
            connection,
            socket,
            protected: vec![0; PROTECTED_BYTES],
        }
    }

    fn write_piece(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut flight = Flight::default();
        loop {
            match self.connection.process(&mut []).state.map_err(refused)? {
                ConnectionState::WriteTraffic(mut traffic) => {
                    let length = traffic.encrypt(piece, &mut self.protected).map_err(io::Error::other)?;
                    return (&self.socket).write_all(&self.protected[..length]);
                }
                ConnectionState::EncodeTlsData(data) => flight.encode(data)?,
                ConnectionState::TransmitTlsData(data) => {
                    data.done();
                    flight.send(&self.socket)?;
                }
                other => return Err(io::Error::other(format!("nothing can be sent in state {other:?}"))),
            }
        }
    }
}

impl GuardedWriter for TlsWriter {
    fn socket(&self) -> &Socket {
        &self.socket
    }

    fn write(&mut self, message: &[u8]) -> io::Result<()> {
        message
            .chunks(PIECE_BYTES)
            .try_for_each(|piece| self.write_piece(piece))
    }
}

pub(super) struct TlsReader<'s> {
    connection: UnbufferedServerConnection,
    wire: Wire,
    socket: &'s Socket,
    /// Decrypted, and not yet read.
    rest: Vec<u8>,
    read: usize,
}

impl<'s> TlsReader<'s> {
    pub(super) fn new(connection: UnbufferedServerConnection, wire: Wire, socket: &'s Socket) -> TlsReader<'s> {
        TlsReader {
            connection,
            wire,
            socket,
            rest: Vec::new(),
            read: 0,
        }
    }

    /// Gives of the rest what fits.
    fn take_rest(&mut self, out: &mut [u8]) -> usize {
        let length = out.len().min(self.rest.len() - self.read);
        out[..length].copy_from_slice(&self.rest[self.read..self.read + length]);
        self.read += length;
        if self.read == self.rest.len() {
            self.rest.clear();
            self.read = 0;
        }
        length
    }
}

impl Read for TlsReader<'_> {
    /// All records that have come whole, as far as they fit; a system call only where there is none.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut filled = self.take_rest(out);
        let mut flight = Flight::default();
        while filled < out.len() {
            let UnbufferedStatus { discard, state } = self.connection.process(self.wire.pending());
            let waits = match state.map_err(refused)? {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        let payload = record.map_err(refused)?.payload;
                        let fits = payload.len().min(out.len() - filled);
                        out[filled..filled + fits].copy_from_slice(&payload[..fits]);
                        filled += fits;
                        self.rest.extend_from_slice(&payload[fits..]);
                    }
                    false
                }
                ConnectionState::EncodeTlsData(data) => flight.encode(data).map(|()| false)?,
                ConnectionState::TransmitTlsData(data) => {
                    data.done();
                    flight.send(self.socket).map(|()| false)?
                }
                ConnectionState::WriteTraffic(_) => true,
                _ => return Ok(filled),
            };
            self.wire.discard(discard);
            if waits && (filled > 0 || !self.wire.read(self.socket)?) {
                break;
            }
        }
        Ok(filled)
    }
}
