//! What stands between a stream and its messages where strangers are to be kept out: a handshake on both ends, and from
//! then on whatever that agreed on.
//!
//! A worker implements [`Guard`]; a family without one sends and receives on bare sockets, which know nothing of this.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

use middlemark_contract::SecurityLevel;
use middlemark_runtime::Channel;
use socket2::Socket;

use crate::connection::{Connection, Sending, Unsent};
use crate::receive::Incoming;

/// Guards the connections of a family of streams.
pub trait Guard: Send + Sync {
    /// The level of security that it keeps.
    fn level(&self) -> SecurityLevel;

    /// What it does so with, by name, for `effective`.
    fn stated(&self) -> BTreeMap<String, String>;

    /// Joins a channel as a publisher, over a connected socket that blocks.
    ///
    /// # Errors
    /// Of kind `PermissionDenied` where one end takes the other for a stranger, which no further attempt changes.
    fn join(&self, socket: Arc<Socket>, channel: &Channel) -> io::Result<Box<dyn GuardedWriter>>;

    /// Joins a channel of requests as a client, over a connected socket; responses are read from it.
    ///
    /// # Errors
    /// As [`Self::join`].
    fn join_both_ways(&self, incoming: Incoming, channel: &Channel) -> io::Result<BothWays>;

    /// Lets a publisher in, as a subscriber of a channel, over an accepted socket; gives what is read from it.
    ///
    /// # Errors
    /// Of kind `PermissionDenied` where one end takes the other for a stranger.
    fn admit(&self, incoming: Incoming, channel: &Channel) -> io::Result<Box<dyn Read>>;

    /// Lets a client in, as a server of a channel of requests, over an accepted socket; responses are written to it.
    ///
    /// # Errors
    /// As [`Self::admit`].
    fn admit_both_ways(&self, incoming: Incoming, channel: &Channel) -> io::Result<BothWays>;
}

/// The end of a guarded connection that is written to and read from, by two threads where its holder has two: who waits
/// in one of them never keeps the other waiting.
pub struct BothWays {
    /// What comes.
    pub reader: Box<dyn Read + Send>,
    /// What goes.
    pub writer: Box<dyn GuardedWriter>,
}

/// The end of a guarded connection that is written to.
pub trait GuardedWriter: Send {
    /// The socket that it writes to.
    fn socket(&self) -> &Socket;

    /// Writes all of it, waiting for room as long as the socket's timeout lets it.
    ///
    /// # Errors
    /// The socket's own; then nothing can follow.
    fn write(&mut self, message: &[u8]) -> io::Result<()>;
}

pub(crate) struct GuardedConnection(pub(crate) Box<dyn GuardedWriter>);

impl Connection for GuardedConnection {
    fn socket(&self) -> &Socket {
        self.0.socket()
    }

    /// A message that is encrypted can't be dropped any more, as the next one's place is behind it: room is waited for
    /// before.
    fn send(&mut self, message: &[u8], sending: Sending) -> Result<(), Unsent> {
        wait_for_room(self.socket(), sending.waits_for_room()).map_err(Unsent::whole)?;
        self.0.write(message).map_err(|error| Unsent { error, begun: true })
    }
}

/// # Errors
/// Of kind `WouldBlock` where none has come by then.
fn wait_for_room(socket: &Socket, patience: Duration) -> io::Result<()> {
    let mut asked = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    let patience_ms = i32::try_from(patience.as_millis()).unwrap_or(i32::MAX);
    loop {
        // SAFETY: it points to one descriptor, which lives as long as the call.
        match unsafe { libc::poll(&raw mut asked, 1, patience_ms) } {
            0 => return Err(ErrorKind::WouldBlock.into()),
            1.. => return Ok(()),
            _ => match io::Error::last_os_error() {
                interrupted if interrupted.kind() == ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
}
