//! What tells one family of sockets from another: how it addresses, what it sets, what it can read back.
//!
//! The workers implement it; it opens nothing but a bare socket and knows neither publishers nor subscribers.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use middlemark_contract::{MessagePath, SecurityLevel};
use middlemark_runtime::Channel;
use socket2::{SockAddr, Socket};

use crate::connection::Kind;
use crate::guard::Guard;

/// How large the kernel lets the two buffers of a socket become, in its own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffered {
    /// What is sent and not yet taken by the other end.
    pub to_send: usize,
    /// What has come and is not yet received; none where the sender's buffer alone counts.
    pub to_receive: Option<usize>,
}

impl Buffered {
    /// Of both together.
    pub(crate) fn whole(self) -> u64 {
        self.to_send as u64 + self.to_receive.unwrap_or(0) as u64
    }
}

impl fmt::Display for Buffered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_receive {
            Some(to_receive) => write!(formatter, "{} B to send and {to_receive} B to receive", self.to_send),
            None => write!(formatter, "{} B to send", self.to_send),
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
