//! What tells one family of sockets from another: how it addresses, what it sets, what it can read back.
//!
//! The workers implement it; it opens nothing but a bare socket and knows neither publishers nor subscribers.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use middlemark_contract::{MessagePath, SecurityLevel};
use middlemark_runtime::Channel;
use socket2::{SockAddr, Socket, Type};

use crate::guard::Guard;
use crate::settings::queue::{self, Buffered};

/// How a socket keeps messages apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Without a connection; the kernel keeps the messages apart.
    Datagram,
    /// With a connection; the kernel keeps the messages apart.
    Packet,
    /// With a connection; messages have one size, by which both ends keep them apart.
    Stream,
}

impl Kind {
    pub(crate) fn socket_type(self) -> Type {
        match self {
            Kind::Datagram => Type::DGRAM,
            Kind::Packet => Type::SEQPACKET,
            Kind::Stream => Type::STREAM,
        }
    }
}

/// A family of sockets, configured for one application.
pub trait Family: Send + Sync + 'static {
    /// The transport in words, for `effective`.
    fn transport(&self) -> String;

    /// The path that messages take.
    fn path(&self) -> MessagePath {
        MessagePath::Network
    }

    /// How it keeps messages apart.
    fn kind(&self) -> Kind;

    /// The address of a channel's subscriber.
    ///
    /// # Errors
    /// There can't be such an address.
    fn address(&self, channel: &Channel, subscriber: usize) -> io::Result<SockAddr>;

    /// Sets what a new socket needs before it is bound or connected.
    ///
    /// # Errors
    /// What the kernel refused.
    fn configure(&self, socket: &Socket) -> io::Result<()>;

    /// What a configured socket really has, by name.
    ///
    /// # Errors
    /// What can't be read back.
    fn granted(&self, socket: &Socket) -> io::Result<BTreeMap<String, String>>;

    /// How large the kernel lets the buffers of a configured socket become.
    ///
    /// # Errors
    /// What can't be read back.
    fn most_buffered(&self, socket: &Socket) -> io::Result<Buffered>;

    /// What guards its connections, which are streams; none where they are open to all.
    fn guard(&self) -> Option<Arc<dyn Guard>> {
        None
    }

    /// The level of security that it keeps: its guard's, where it has no other means.
    fn security(&self) -> Option<SecurityLevel> {
        self.guard().map(|guard| guard.level())
    }

    /// Refuses an address at which a stranger may listen; asked before each connection.
    ///
    /// # Errors
    /// Of kind `PermissionDenied` where it is a stranger's; what the kernel reported where that can't be told.
    fn accept_peer(&self, _address: &SockAddr) -> io::Result<()> {
        Ok(())
    }

    /// Whether a send to an absent peer may report the absence of an earlier one, as UDP does with an ICMP answer.
    fn reports_absence_late(&self) -> bool {
        false
    }
}

/// A configured socket of a family, neither bound nor connected.
pub(crate) fn open(family: &dyn Family, like: &SockAddr) -> io::Result<Socket> {
    let socket = Socket::new(like.domain(), family.kind().socket_type(), None)?;
    family.configure(&socket)?;
    Ok(socket)
}

/// A socket as it was made by [`open`], with buffers no larger than a queue.
pub(crate) fn open_bounded(family: &dyn Family, like: &SockAddr, queue_bytes: u64) -> io::Result<Socket> {
    let socket = open(family, like)?;
    queue::bound(family, &socket, queue_bytes)?;
    Ok(socket)
}

/// Connects a configured socket with buffers no larger than a queue, within `patience`.
pub(crate) fn connect(
    family: &dyn Family,
    address: &SockAddr,
    queue_bytes: u64,
    patience: std::time::Duration,
) -> io::Result<Arc<Socket>> {
    family.accept_peer(address)?;
    let socket = open_bounded(family, address, queue_bytes)?;
    match family.kind() {
        Kind::Datagram => socket.connect(address)?,
        Kind::Packet | Kind::Stream => socket.connect_timeout(address, patience)?,
    }
    Ok(Arc::new(socket))
}
