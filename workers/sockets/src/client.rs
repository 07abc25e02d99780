//! A client's connections to its server, one at a time: requests go out on it, and its responses come back on it.
//!
//! `publisher` sends the requests; the responses are received on a thread of their own, from when the connection is made
//! until the session stops it, whether or not anybody sends any more.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use middlemark_runtime::{Channel, Matched, Receiver, clock};
use socket2::{SockAddr, Socket};

use crate::connector::connect;
use crate::family::Family;
use crate::guard::{BothWays, Guard, GuardedConnection};
use crate::receive::{Incoming, Loops, ReceiveLoop, Reception};

/// What a client connects with.
pub(crate) struct Client {
    pub(crate) family: Arc<dyn Family>,
    pub(crate) server: SockAddr,
    /// What may wait on a connection, either way.
    pub(crate) queue_bytes: u64,
    /// The channel of its requests, by which a guard knows its right.
    pub(crate) requests: Channel,
    pub(crate) reception: Reception,
    pub(crate) responses: Receiver,
    pub(crate) loops: Loops,
    pub(crate) found: Matched,
}

impl Client {
    /// A connection on which responses are received.
    pub(crate) fn connect(&self, patience: Duration) -> io::Result<Arc<Socket>> {
        let socket = connect(&*self.family, &self.server, self.queue_bytes, patience)?;
        self.found.now();
        let incoming = Incoming::new(Arc::clone(&socket), self.reception.delivery);
        let (reception, responses) = (self.reception.clone(), self.responses.clone());
        self.loops.add(|| {
            ReceiveLoop::start(Arc::clone(&socket), move |stopping| {
                reception.bare(incoming, |response| responses.receive(response), stopping)
            })
        })?;
        Ok(socket)
    }

    /// The same under a guard, which the server has let through.
    pub(crate) fn join(&self, guard: &dyn Guard, patience: Duration) -> io::Result<GuardedConnection> {
        let socket = connect(&*self.family, &self.server, self.queue_bytes, patience)?;
        let incoming = Incoming::new(Arc::clone(&socket), self.reception.delivery);
        let began_ns = clock::now_ns();
        let BothWays { reader, writer } = guard.join_both_ways(incoming, &self.requests)?;
        self.found.now_after_handshake(began_ns);
        let (reception, responses) = (self.reception.clone(), self.responses.clone());
        self.loops.add(|| {
            ReceiveLoop::start(socket, move |stopping| {
                reception.stream(reader, |response| responses.receive(response), stopping)
            })
        })?;
        Ok(GuardedConnection(writer))
    }
}
