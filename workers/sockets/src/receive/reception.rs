//! How messages are taken from a socket: one system call a message (or a batch of a stream's messages) and nothing else,
//! no allocation, no lock, no poll.

use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use middlemark_contract::Delivery;
use middlemark_runtime::{Channel, Idle};

use crate::connection::Kind;
use crate::receive::framing::StreamReader;
use crate::receive::incoming::Incoming;

/// What needs to be known of the messages that come over a socket.
#[derive(Clone)]
pub(crate) struct Reception {
    pub(crate) kind: Kind,
    pub(crate) delivery: Delivery,
    /// The one that they are of.
    pub(crate) channel: Channel,
}

impl Reception {
    /// Hands over what comes over a bare socket, until its peer is gone or it is stopped.
    pub(crate) fn bare(&self, incoming: Incoming, deliver: impl FnMut(&[u8]), stopping: &AtomicBool) -> io::Result<()> {
        match self.kind {
            Kind::Stream => self.stream(incoming, deliver, stopping),
            Kind::Packet | Kind::Datagram => self.messages(incoming, deliver, stopping),
        }
    }

    /// The same of a stream.
    pub(crate) fn stream(
        &self,
        mut stream: impl Read,
        mut deliver: impl FnMut(&[u8]),
        stopping: &AtomicBool,
    ) -> io::Result<()> {
        let mut idle = Idle::default();
        let mut reader = StreamReader::new(self.channel.size_bytes);
        loop {
            match reader.read(&mut stream, |begun| self.channel.bytes_of(begun), &mut deliver) {
                Ok(true) => idle.after_look(true),
                Ok(false) => return Ok(()),
                Err(error) if is_passing(&error) => {
                    if stopping.load(Relaxed) {
                        return Ok(());
                    }
                    idle.after_look(false);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn messages(
        &self,
        mut incoming: Incoming,
        mut deliver: impl FnMut(&[u8]),
        stopping: &AtomicBool,
    ) -> io::Result<()> {
        let mut idle = Idle::default();
        // One byte more than a message has, so that a longer one is seen to be wrong.
        let mut buffer = vec![0; self.channel.size_bytes + 1];
        loop {
            match incoming.read(&mut buffer) {
                Ok(0) if self.kind == Kind::Packet || stopping.load(Relaxed) => return Ok(()),
                Ok(length) => {
                    deliver(&buffer[..length]);
                    idle.after_look(true);
                }
                Err(error) if is_passing(&error) => {
                    if stopping.load(Relaxed) {
                        return Ok(());
                    }
                    idle.after_look(false);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

#[inline]
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
