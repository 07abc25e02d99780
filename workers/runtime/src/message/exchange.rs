//! An exchange: one server, as a middleware sees it, with the channels of its requests and its responses.
//!
//! It only names; `channel` has what a message of either channel is.

use middlemark_contract::PatternSpec;

use crate::message::channel::Channel;

/// One server and, in the hands of a client, this client.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// What the clients send. In the hands of a session its index is the client's or the server's that is being made.
    pub requests: &'a Channel,
    /// What the servers send; the same of its index.
    pub responses: &'a Channel,
    /// The server's index.
    pub server: u16,
    /// The most requests that one client has under way at once.
    pub outstanding: u32,
    /// After this a client gives a request up.
    pub timeout_ns: u64,
}

impl<'a> Exchange<'a> {
    /// The exchange of a stream of requests; none where it has another pattern.
    pub(crate) fn of(
        pattern: &PatternSpec,
        requests: &'a Channel,
        responses: &'a Channel,
        server: u16,
    ) -> Option<Exchange<'a>> {
        match *pattern {
            PatternSpec::RequestResponse {
                outstanding,
                timeout_ns,
                ..
            } => Some(Exchange {
                requests,
                responses,
                server,
                outstanding,
                timeout_ns,
            }),
            _ => None,
        }
    }

    /// The server's name, unique on this machine: letters, digits and `_`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}_{}", self.requests.topic, self.server)
    }

    /// The indices of the server's clients.
    pub fn clients(&self) -> impl ExactSizeIterator<Item = u16> + use<> {
        let (clients, servers) = (self.requests.publishers.len(), self.requests.subscribers.len());
        (self.server..clients as u16).step_by(servers)
    }
}
