//! The session of an application over one family of sockets: it makes endpoints, and closes what it made.
//!
//! It touches no message; `receive_loop` and `publisher` do.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use middlemark_contract::{Congestion, Delivery, Effective};
use middlemark_runtime::{Channel, Matched, MiddlewareError, Publisher, Receiver, Session};
use socket2::{SockAddr, Socket};

use crate::connector::ConnectorThread;
use crate::connector::PATIENCE;
use crate::family::{Family, Kind, connect, open};
use crate::guard::{Guard, GuardedConnection};
use crate::listener::Listener;
use crate::publisher::{Sending, SocketPublisher};
use crate::receive_loop::{ReceiveLoop, Reception};
use crate::settings;

/// A session over sockets.
pub struct SocketSession {
    family: Arc<dyn Family>,
    delivery: Delivery,
    settings: BTreeMap<String, String>,
    loops: Vec<ReceiveLoop>,
    listeners: Vec<Listener>,
    connectors: Vec<ConnectorThread>,
    /// Sockets in the file system that this session bound.
    paths: Vec<PathBuf>,
}

impl SocketSession {
    /// A session without endpoints; `settings` are the options in words.
    ///
    /// # Errors
    /// A socket of this family can't be opened, configured or read back.
    pub fn new(
        family: impl Family,
        delivery: Delivery,
        mut settings: BTreeMap<String, String>,
        like: &SockAddr,
    ) -> Result<SocketSession, MiddlewareError> {
        let probe = open(&family, like).map_err(|error| failure("configuring a socket", like, &error))?;
        settings.extend(family.granted(&probe)?);
        settings.extend(family.guard().map(|guard| guard.stated()).unwrap_or_default());
        // A socket's buffer is bytes of the kernel, with its bookkeeping: it can't be told how much payload to hold.
        settings.insert(
            "queue".into(),
            "the kernel's socket buffers, by so_sndbuf_bytes and so_rcvbuf_bytes; not by QoS".into(),
        );
        Ok(SocketSession {
            family: Arc::new(family),
            delivery,
            settings,
            loops: Vec::new(),
            listeners: Vec::new(),
            connectors: Vec::new(),
            paths: Vec::new(),
        })
    }

    fn bind(&mut self, address: &SockAddr) -> io::Result<Socket> {
        let socket = open(&*self.family, address)?;
        if let Some(path) = address.as_pathname() {
            remove_if_left(path, address, self.family.kind())?;
            socket.bind(address)?;
            self.paths.push(path.to_owned());
        } else {
            // A stream's port may still be held by connections of a subscriber that is gone.
            socket.set_reuse_address(self.family.kind() == Kind::Stream)?;
            socket.bind(address)?;
        }
        Ok(socket)
    }
}

impl SocketSession {
    fn open_publisher(
        &mut self,
        channel: &Channel,
        addresses: Vec<SockAddr>,
        matched: Matched,
    ) -> io::Result<Publisher> {
        // Whoever is there already answers at once; only for another host is there anything to wait for.
        let sockets = addresses
            .iter()
            .map(|address| connect(&*self.family, address, Duration::from_millis(10), &matched).ok())
            .collect();
        let family = self.family.clone();
        let again = move |subscriber: usize| connect(&*family, &addresses[subscriber], PATIENCE, &matched);
        let (connector, thread) = ConnectorThread::start(again)?;
        self.connectors.push(thread);
        let publisher = SocketPublisher::new(self.sending(channel), sockets, connector)?;
        Ok(Publisher::Copying(Box::new(publisher)))
    }

    /// All its connections are made in the background, as a handshake waits for the other end.
    fn guarded_publisher(
        &mut self,
        guard: Arc<dyn Guard>,
        channel: Channel,
        addresses: Vec<SockAddr>,
        matched: Matched,
    ) -> io::Result<Publisher> {
        let (family, sending) = (self.family.clone(), self.sending(&channel));
        let none_yet = addresses.iter().map(|_| None).collect();
        let join = move |subscriber: usize| {
            let connection = GuardedConnection::join(&*family, &*guard, &addresses[subscriber], &channel)?;
            matched.now();
            Ok(connection)
        };
        let (connector, thread) = ConnectorThread::start(join)?;
        self.connectors.push(thread);
        let publisher = SocketPublisher::<GuardedConnection>::new(sending, none_yet, connector)?;
        Ok(Publisher::Copying(Box::new(publisher)))
    }

    fn sending(&self, channel: &Channel) -> Sending {
        Sending::new(self.family.kind(), &channel.qos, self.family.reports_absence_late())
    }
}

impl Session for SocketSession {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        let address = self.family.address(channel, usize::from(channel.index))?;
        let socket = self
            .bind(&address)
            .map_err(|error| failure("binding", &address, &error))?;
        let reception = Reception {
            kind: self.family.kind(),
            delivery: self.delivery,
            channel: channel.clone(),
            receiver,
            guard: self.family.guard(),
        };
        match self.family.kind() {
            Kind::Datagram => self.loops.push(ReceiveLoop::start(socket, reception)?),
            Kind::Packet | Kind::Stream => self.listeners.push(Listener::start(socket, reception)?),
        }
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let addresses: Vec<_> = (0..channel.subscribers.len())
            .map(|subscriber| self.family.address(channel, subscriber))
            .collect::<Result<_, _>>()?;
        let publisher = match self.family.guard() {
            None => self.open_publisher(channel, addresses, matched)?,
            Some(guard) => self.guarded_publisher(guard, channel.clone(), addresses, matched)?,
        };
        let waits = match channel.qos.congestion {
            Congestion::Block => format!("waits for room, SO_SNDTIMEO {} ms", channel.qos.patience_ns / 1_000_000),
            Congestion::Drop => "does not wait for room (MSG_DONTWAIT)".into(),
        };
        self.settings.insert(format!("publisher {}", channel.topic), waits);
        Ok(publisher)
    }

    fn effective(&self) -> Effective {
        Effective {
            transport: self.family.transport(),
            paths: vec![self.family.path()],
            delivery: self.delivery,
            receive_mode: settings::deliveries().how(self.delivery).unwrap_or_default().into(),
            zero_copy: false,
            security: self.family.security(),
            settings: self.settings.clone(),
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        for connector in self.connectors {
            connector.stop();
        }
        for each in self.loops {
            each.stop();
        }
        for listener in self.listeners {
            listener.stop();
        }
        let removed: Vec<_> = self.paths.iter().map(|path| remove_if_there(path)).collect();
        Ok(removed.into_iter().collect::<io::Result<()>>()?)
    }
}

/// Removes a socket's path that a subscriber which was killed has left; one that is still bound is somebody's.
fn remove_if_left(path: &Path, address: &SockAddr, kind: Kind) -> io::Result<()> {
    let asking = Socket::new(address.domain(), kind.socket_type(), None)?;
    asking.set_nonblocking(true)?;
    match asking.connect(address) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // unix(7): to a path that no socket is bound to any more. Whatever else is answered, somebody answers.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => remove_if_there(path),
        _ => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "a living socket is bound to this path; is another application of this trial's name still there?",
        )),
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn failure(doing: &str, address: &SockAddr, error: &io::Error) -> MiddlewareError {
    let name = address
        .as_socket()
        .map(|socket| socket.to_string())
        .or_else(|| address.as_pathname().map(|path| path.display().to_string()))
        .unwrap_or_default();
    format!("{doing} at {name}: {error}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 3] = [Kind::Datagram, Kind::Packet, Kind::Stream];

    fn bound(kind: Kind, address: &SockAddr) -> Socket {
        let socket = Socket::new(address.domain(), kind.socket_type(), None).unwrap();
        socket.bind(address).unwrap();
        if kind != Kind::Datagram {
            socket.listen(1).unwrap();
        }
        socket
    }

    #[test]
    fn a_path_is_taken_from_the_dead_and_from_nobody_else() {
        for kind in KINDS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("socket");
            let address = SockAddr::unix(&path).unwrap();
            assert!(
                remove_if_left(&path, &address, kind).is_ok(),
                "{kind:?}: nothing is there"
            );
            let living = bound(kind, &address);
            for asking in KINDS {
                let error = remove_if_left(&path, &address, asking).unwrap_err();
                assert_eq!(
                    (error.kind(), path.exists()),
                    (io::ErrorKind::AddrInUse, true),
                    "{kind:?}"
                );
            }
            drop(living);
            assert!(path.exists(), "{kind:?}: a killed one leaves its path");
            remove_if_left(&path, &address, kind).unwrap();
            assert!(!path.exists(), "{kind:?}");
        }
    }
}
