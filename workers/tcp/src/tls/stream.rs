//! Messages over TLS: encrypted into one buffer and sent from it, read into one buffer and decrypted from it.
//!
//! Who holds the connection's state is `held`'s.

use std::io::{self, Read, Write};
use std::sync::Arc;

use middlemark_sockets::{BothWays, GuardedWriter, Incoming};
use rustls::unbuffered::{ConnectionState, UnbufferedStatus};
use socket2::Socket;

use super::handshake::{End, Flight, Wire, refused, unready};
use super::held::{Held, Shared};

/// How much of a message is encrypted before it is sent: four records of TLS, so that the kernel and the peer begin with
/// the first while the next are encrypted.
const PIECE_BYTES: usize = 64 * 1024;
/// What a record adds is 22 bytes; a change of keys fits in too.
const PROTECTED_BYTES: usize = PIECE_BYTES + 1024;

/// Both directions of a connection, for two threads.
pub(super) fn both_ways(end: impl End + Send + 'static, wire: Wire, incoming: Incoming) -> BothWays {
    let [writers, readers] = Shared::two(end);
    let writer = TlsWriter::new(writers, Arc::clone(incoming.socket()));
    BothWays {
        reader: Box::new(TlsReader::new(readers, wire, incoming)),
        writer: Box::new(writer),
    }
}

pub(super) struct TlsWriter<H> {
    held: H,
    socket: Arc<Socket>,
    protected: Vec<u8>,
}

impl<H: Held> TlsWriter<H> {
    pub(super) fn new(held: H, socket: Arc<Socket>) -> TlsWriter<H> {
        TlsWriter {
            held,
            socket,
            protected: vec![0; PROTECTED_BYTES],
        }
    }

    fn write_piece(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut flight = Flight::default();
        let (socket, protected) = (&self.socket, &mut self.protected);
        loop {
            let encrypted = self.held.with(|end| -> io::Result<Option<usize>> {
                match end.process(&mut []).state.map_err(refused)? {
                    ConnectionState::WriteTraffic(mut traffic) => {
                        let length = traffic.encrypt(piece, protected).map_err(io::Error::other)?;
                        Ok(Some(length))
                    }
                    ConnectionState::EncodeTlsData(data) => flight.encode(data).map(|()| None),
                    ConnectionState::TransmitTlsData(data) => {
                        data.done();
                        flight.send(socket).map(|()| None)
                    }
                    other => Err(unready(&other)),
                }
            })?;
            if let Some(length) = encrypted {
                return (&**socket).write_all(&protected[..length]);
            }
        }
    }
}

impl<H: Held> GuardedWriter for TlsWriter<H> {
    fn socket(&self) -> &Socket {
        &self.socket
    }

    fn write(&mut self, message: &[u8]) -> io::Result<()> {
        message
            .chunks(PIECE_BYTES)
            .try_for_each(|piece| self.write_piece(piece))
    }
}

pub(super) struct TlsReader<H> {
    held: H,
    wire: Wire,
    incoming: Incoming,
    /// Decrypted, and not yet read.
    rest: Vec<u8>,
    read: usize,
}

/// What follows from a look at what has come.
enum Next {
    Look,
    Read,
    End,
}

impl<H: Held> TlsReader<H> {
    pub(super) fn new(held: H, wire: Wire, incoming: Incoming) -> TlsReader<H> {
        TlsReader {
            held,
            wire,
            incoming,
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

    /// Decrypts what has come whole, into `out` behind what is `filled` as far as it fits.
    #[inline]
    fn decrypt(&mut self, out: &mut [u8], filled: &mut usize, flight: &mut Flight) -> io::Result<Next> {
        let (wire, rest, socket) = (&mut self.wire, &mut self.rest, self.incoming.socket());
        self.held.with(|end| {
            let UnbufferedStatus { discard, state } = end.process(wire.pending());
            let next = match state.map_err(refused)? {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        let payload = record.map_err(refused)?.payload;
                        let fits = payload.len().min(out.len() - *filled);
                        out[*filled..*filled + fits].copy_from_slice(&payload[..fits]);
                        *filled += fits;
                        rest.extend_from_slice(&payload[fits..]);
                    }
                    Next::Look
                }
                ConnectionState::EncodeTlsData(data) => flight.encode(data).map(|()| Next::Look)?,
                ConnectionState::TransmitTlsData(data) => {
                    data.done();
                    flight.send(socket).map(|()| Next::Look)?
                }
                ConnectionState::WriteTraffic(_) => Next::Read,
                _ => return Ok(Next::End),
            };
            wire.discard(discard);
            Ok(next)
        })
    }
}

impl<H: Held> Read for TlsReader<H> {
    /// All records that have come whole, as far as they fit; a system call only where there is none.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut filled = self.take_rest(out);
        let mut flight = Flight::default();
        while filled < out.len() {
            match self.decrypt(out, &mut filled, &mut flight)? {
                Next::Look => {}
                Next::Read if filled == 0 && self.wire.read(&mut self.incoming)? => {}
                Next::Read | Next::End => break,
            }
        }
        Ok(filled)
    }
}
