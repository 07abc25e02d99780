//! The session of an application over one family of sockets: it makes endpoints, and closes what it made.
//!
//! It touches no message; `receive`, `publisher` and `client` see to those.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use middlemark_contract::{Congestion, Delivery, Effective};
use middlemark_runtime::{Channel, Exchange, Matched, MiddlewareError, Publisher, Receiver, Server, Session, clock};
use socket2::{SockAddr, Socket};

use crate::client::Client;
use crate::connection::{Connection, Kind, Sending};
use crate::connector::{ConnectorThread, Missing, PATIENCE, connect};
use crate::family::{Family, open};
use crate::guard::GuardedConnection;
use crate::paths::{remove_if_left, remove_if_there};
use crate::publisher::SocketPublisher;

use crate::receive::{Entrance, Listener, Loops, ReceiveLoop, Reception, Taker};
use crate::settings::{self, queue};

/// Whoever is there already answers at once; only for another host is there anything to wait for.
const AT_ONCE: Duration = Duration::from_millis(10);

/// A session over sockets.
pub struct SocketSession {
    family: Arc<dyn Family>,
    delivery: Delivery,
    settings: BTreeMap<String, String>,
    loops: Loops,
    listeners: Vec<Listener>,
    connectors: Vec<ConnectorThread>,
    missing: Missing,
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
        Ok(SocketSession {
            family: Arc::new(family),
            delivery,
            settings,
            loops: Loops::default(),
            listeners: Vec::new(),
            connectors: Vec::new(),
            missing: Missing::default(),
            paths: Vec::new(),
        })
    }

    fn bind(&mut self, address: &SockAddr, queue_bytes: u64) -> io::Result<Socket> {
        let socket = queue::open_bounded(&*self.family, address, queue_bytes)?;
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

    /// What sends to so many peers over the connections that `connect` makes: those that can be had `at_once`, if any are
    /// to be tried so, and the others in the background.
    fn sending_over<C: Connection>(
        &mut self,
        channel: &Channel,
        peers: usize,
        at_once: Option<Duration>,
        connect: impl Fn(usize, Duration) -> io::Result<C> + Send + 'static,
    ) -> io::Result<Publisher> {
        let try_at_once = |peer| at_once.and_then(|patience| connect(peer, patience).ok());
        let made = (0..peers).map(try_at_once).collect();
        let (connector, thread) = ConnectorThread::start(move |peer| connect(peer, PATIENCE), self.missing.clone())?;
        self.connectors.push(thread);
        let publisher = SocketPublisher::new(self.sending(channel), made, connector)?;
        Ok(Publisher::Copying(Box::new(publisher)))
    }

    fn sending(&self, channel: &Channel) -> Sending {
        Sending::new(self.family.kind(), &channel.qos, self.family.reports_absence_late())
    }

    fn reception(&self, channel: &Channel) -> Reception {
        Reception {
            kind: self.family.kind(),
            delivery: self.delivery,
            channel: channel.clone(),
        }
    }

    /// Receives at the channel's own address.
    fn receive(&mut self, channel: &Channel, queue_bytes: u64, taker: Taker) -> Result<(), MiddlewareError> {
        let address = self.family.address(channel, usize::from(channel.index))?;
        let socket = self
            .bind(&address, queue_bytes)
            .map_err(|error| failure("binding", &address, &error))?;
        let queue = queue::words(&*self.family, &address, queue_bytes)?;
        self.settings.insert(format!("queue {}", channel.topic), queue);
        let entrance = Entrance {
            reception: self.reception(channel),
            taker,
            guard: self.family.guard(),
        };
        match self.family.kind() {
            Kind::Datagram => {
                let socket = Arc::new(socket);
                let from = Arc::clone(&socket);
                self.loops
                    .add(|| ReceiveLoop::start(socket, move |stopping| entrance.run(from, stopping)))?;
            }
            Kind::Packet | Kind::Stream => self.listeners.push(Listener::start(socket, entrance)?),
        }
        Ok(())
    }
}

impl Session for SocketSession {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        self.receive(channel, queue::queued_bytes(&[channel]), Taker::Subscriber(receiver))
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let peers = channel.subscribers.len();
        let addresses: Vec<_> = (0..peers)
            .map(|subscriber| self.family.address(channel, subscriber))
            .collect::<Result<_, _>>()?;
        let (family, guard, of) = (self.family.clone(), self.family.guard(), channel.clone());
        let queue_bytes = queue::queued_bytes(&[channel]);
        if let Some(address) = addresses.first() {
            let queue = queue::words(&*self.family, address, queue_bytes)?;
            self.settings.insert(format!("queue {}", channel.topic), queue);
        }
        let publisher = match guard {
            None => self.sending_over(channel, peers, Some(AT_ONCE), move |subscriber, patience| {
                let socket = connect(&*family, &addresses[subscriber], queue_bytes, patience)?;
                if !family.reports_absence_late() {
                    matched.now();
                }
                Ok(socket)
            })?,
            // All in the background, as a handshake waits for the other end.
            Some(guard) => self.sending_over(channel, peers, None, move |subscriber, patience| {
                let socket = connect(&*family, &addresses[subscriber], queue_bytes, patience)?;
                let began_ns = clock::now_ns();
                let writer = guard.join(socket, &of)?;
                matched.now_after_handshake(began_ns);
                Ok(GuardedConnection(writer))
            })?,
        };
        self.settings
            .insert(format!("publisher {}", channel.topic), waits_for_room(channel));
        Ok(publisher)
    }

    fn server(&mut self, exchange: &Exchange<'_>, server: Server) -> Result<(), MiddlewareError> {
        if self.family.kind() == Kind::Datagram {
            return Err("a datagram comes over no connection on which a response could go back".into());
        }
        let sending = self.sending(exchange.responses);
        let how = format!(
            "responds on the connection of the request; {}",
            waits_for_room(exchange.responses)
        );
        self.settings.insert(format!("server {}", exchange.name()), how);
        let queue_bytes = queue::queued_bytes(&[exchange.requests, exchange.responses]);
        self.receive(exchange.requests, queue_bytes, Taker::Server(server, sending))
    }

    fn client(
        &mut self,
        exchange: &Exchange<'_>,
        responses: Receiver,
        found: Matched,
    ) -> Result<Publisher, MiddlewareError> {
        let requests = exchange.requests;
        let client = Client {
            family: self.family.clone(),
            server: self.family.address(requests, usize::from(exchange.server))?,
            queue_bytes: queue::queued_bytes(&[requests, exchange.responses]),
            requests: requests.clone(),
            reception: self.reception(exchange.responses),
            responses,
            loops: self.loops.clone(),
            found,
        };
        let publisher = match self.family.guard() {
            None => self.sending_over(requests, 1, Some(AT_ONCE), move |_, patience| client.connect(patience))?,
            Some(guard) => self.sending_over(requests, 1, None, move |_, patience| client.join(&*guard, patience))?,
        };
        let how = format!("one connection both ways; {}", waits_for_room(requests));
        self.settings.insert(format!("client of {}", exchange.name()), how);
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
        self.loops.stop();
        for listener in self.listeners {
            listener.stop();
        }
        let removed: Vec<_> = self.paths.iter().map(|path| remove_if_there(path)).collect();
        Ok(removed.into_iter().collect::<io::Result<()>>()?)
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

/// How long a message waits for room, in words.
fn waits_for_room(channel: &Channel) -> String {
    match channel.qos.congestion {
        Congestion::Block => format!("waits for room, SO_SNDTIMEO {} ms", channel.qos.patience_ns / 1_000_000),
        Congestion::Drop => "does not wait for room (MSG_DONTWAIT)".into(),
    }
}
