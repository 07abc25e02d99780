//! Who takes the messages that come to an endpoint's address: a subscriber, or a server, which responds over the
//! connection that a request came by.
//!
//! A guard lets peers in first, where there is one; how messages are taken from a socket is `reception`'s.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use middlemark_runtime::{Publish, PublishError, PublisherMut, Receiver, Server};
use socket2::Socket;

use crate::connection::{Connection, Sending};
use crate::guard::{BothWays, Guard, GuardedConnection};
use crate::receive::incoming::Incoming;
use crate::receive::reception::Reception;

/// What happens with all that comes to one address.
#[derive(Clone)]
pub(crate) struct Entrance {
    pub(crate) reception: Reception,
    pub(crate) taker: Taker,
    pub(crate) guard: Option<Arc<dyn Guard>>,
}

#[derive(Clone)]
pub(crate) enum Taker {
    Subscriber(Receiver),
    /// With how it sends its responses.
    Server(Server, Sending),
}

impl Entrance {
    /// Takes all messages of one socket, until its peer is gone or it is stopped.
    pub(crate) fn run(&self, socket: Arc<Socket>, stopping: &AtomicBool) -> io::Result<()> {
        let (reception, channel) = (&self.reception, &self.reception.channel);
        let incoming = Incoming::new(socket, reception.delivery);
        match (&self.taker, &self.guard) {
            (Taker::Subscriber(receiver), None) => {
                reception.bare(incoming, |message| receiver.receive(message), stopping)
            }
            (Taker::Subscriber(receiver), Some(guard)) => {
                let stream = guard.admit(incoming, channel)?;
                reception.stream(stream, |message| receiver.receive(message), stopping)
            }
            (Taker::Server(server, sending), None) => {
                let responding = Responding::over(Arc::clone(incoming.socket()), *sending)?;
                reception.bare(incoming, responding.for_requests_to(server), stopping)
            }
            (Taker::Server(server, sending), Some(guard)) => {
                let BothWays { reader, writer } = guard.admit_both_ways(incoming, channel)?;
                let responding = Responding::over(GuardedConnection(writer), *sending)?;
                reception.stream(reader, responding.for_requests_to(server), stopping)
            }
        }
    }
}

/// What hands a server's responses over to the connection of a client.
struct Responding<C> {
    connection: C,
    sending: Sending,
}

impl<C: Connection> Responding<C> {
    fn over(connection: C, sending: Sending) -> io::Result<Responding<C>> {
        sending.bound(connection.socket())?;
        Ok(Responding { connection, sending })
    }

    fn for_requests_to(mut self, server: &Server) -> impl FnMut(&[u8]) {
        move |request| server.serve(request, PublisherMut::Copying(&mut self))
    }
}

impl<C: Connection> Publish for Responding<C> {
    #[inline]
    fn publish(&mut self, response: &[u8]) -> Result<(), PublishError> {
        self.connection.send(response, self.sending).map_err(|unsent| {
            if unsent.begun {
                // Half a response is in the stream: nothing can follow it.
                let _ = self.connection.socket().shutdown(Shutdown::Both);
            }
            self.sending.refusal(&unsent)
        })
    }
}
