//! What stands between a stream and its messages where strangers are to be kept out: a handshake on both ends, and from
//! then on whatever that agreed on.
//!
//! A worker implements [`Guard`]; a family without one sends and receives on bare sockets, which know nothing of this.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::time::Duration;

use middlemark_contract::SecurityLevel;
use middlemark_runtime::Channel;
use socket2::{SockAddr, Socket};

use crate::connector::PATIENCE;
use crate::family::{Family, open};
use crate::publisher::{Connection, Sending, Unsent};

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
    fn join(&self, socket: Socket, channel: &Channel) -> io::Result<Box<dyn GuardedWriter>>;

    /// Lets a publisher in, as a subscriber of a channel, over an accepted socket that blocks; gives what is read from it.
    ///
    /// # Errors
    /// Of kind `PermissionDenied` where one end takes the other for a stranger.
    fn admit<'s>(&self, socket: &'s Socket, channel: &Channel) -> io::Result<Box<dyn Read + 's>>;
}

/// The publisher's end of a guarded connection.
pub trait GuardedWriter: Send {
    /// The socket that it writes to.
    fn socket(&self) -> &Socket;

    /// Writes all of it, waiting for room as long as the socket's timeout lets it.
    ///
    /// # Errors
    /// The socket's own; then nothing can follow.
    fn write(&mut self, message: &[u8]) -> io::Result<()>;
}

pub(crate) struct GuardedConnection(Box<dyn GuardedWriter>);

impl GuardedConnection {
    /// Connects, and joins the channel.
    pub(crate) fn join(
        family: &dyn Family,
        guard: &dyn Guard,
        address: &SockAddr,
        channel: &Channel,
    ) -> io::Result<GuardedConnection> {
        let socket = open(family, address)?;
        socket.connect_timeout(address, PATIENCE)?;
        Ok(GuardedConnection(guard.join(socket, channel)?))
    }
}

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
