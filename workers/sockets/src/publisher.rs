//! A publisher, or a client's requests: one connection for each subscriber, and a message handed to one after the other.
//!
//! What is not connected is left to the `connector` and picked up here; how a message is sent is `connection`'s.

use std::io;
use std::net::Shutdown;

use middlemark_runtime::{Publish, PublishError};

use crate::connection::{Connection, Sending};
use crate::connector::Connector;

/// A publisher over connections.
pub(crate) struct SocketPublisher<C> {
    sending: Sending,
    connections: Vec<Option<C>>,
    missing: usize,
    connector: Connector<C>,
}

impl<C: Connection> SocketPublisher<C> {
    /// A publisher with the connections that could be made at once; the connector is asked for the others.
    pub(crate) fn new(
        sending: Sending,
        connections: Vec<Option<C>>,
        connector: Connector<C>,
    ) -> io::Result<SocketPublisher<C>> {
        let missing = connections.iter().filter(|connection| connection.is_none()).count();
        for (subscriber, connection) in connections.iter().enumerate() {
            match connection {
                Some(connection) => sending.bound(connection.socket())?,
                None => connector.request(subscriber),
            }
        }
        Ok(SocketPublisher {
            sending,
            connections,
            missing,
            connector,
        })
    }

    #[cold]
    fn pick_up(&mut self) {
        while let Some((subscriber, connection)) = self.connector.made() {
            if self.sending.bound(connection.socket()).is_ok() {
                self.connections[subscriber] = Some(connection);
                self.missing -= 1;
            } else {
                self.connector.request(subscriber);
            }
        }
    }

    /// Ends a connection, for whoever receives on it too, and asks for another.
    #[cold]
    fn give_up(&mut self, subscriber: usize) {
        if let Some(connection) = self.connections[subscriber].take() {
            let _ = connection.socket().shutdown(Shutdown::Both);
        }
        self.missing += 1;
        self.connector.request(subscriber);
    }
}

impl<C: Connection> Publish for SocketPublisher<C> {
    /// Accepted where at least one subscriber's socket took it.
    #[inline]
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        if self.missing > 0 {
            self.pick_up();
        }
        let mut accepted = false;
        let mut refusal = PublishError::NotConnected;
        for subscriber in 0..self.connections.len() {
            let Some(connection) = &mut self.connections[subscriber] else {
                continue;
            };
            match connection.send(message, self.sending) {
                Ok(()) => accepted = true,
                Err(unsent) => {
                    refusal = self.sending.refusal(&unsent);
                    let lost = refusal == PublishError::NotConnected && !self.sending.reports_absence_late;
                    // Half a message is in the stream: nothing can follow it.
                    if lost || unsent.begun {
                        self.give_up(subscriber);
                    }
                }
            }
        }
        if accepted { Ok(()) } else { Err(refusal) }
    }
}
