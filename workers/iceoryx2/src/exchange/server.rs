//! A server: requests from its port, each answered in place through the active request that it came as.
//!
//! One thread owns all of it; whom a response wakes is told by the index that its request brought.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;

use iceoryx2::active_request::ActiveRequest;
use iceoryx2::node::Node;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::server::Server;
use iceoryx2::response_mut::ResponseMut;
use middlemark_runtime::{
    Exchange, MiddlewareError, Publish, PublishError, PublishInPlace, PublisherMut, Server as RequestReceiver,
};

use crate::exchange::{self, Calls};
use crate::publisher::{not_loaned, not_notified, not_sent};
use crate::receive_loop::Inbox;
use crate::service::Kind;

/// A server's requests.
pub(crate) struct Requests {
    port: Server<Kind, [u8], u16, [u8], ()>,
    /// What wakes each client; empty where they poll.
    bells: BTreeMap<u16, Notifier<Kind>>,
    server: RequestReceiver,
    writes_in_place: bool,
}

impl Requests {
    pub(crate) fn new(
        calls: &Calls<Kind>,
        bells: BTreeMap<u16, Notifier<Kind>>,
        exchange: &Exchange<'_>,
        server: RequestReceiver,
        writes_in_place: bool,
    ) -> Result<Requests, MiddlewareError> {
        let port = calls
            .server_builder()
            .initial_max_slice_len(exchange.responses.size_bytes)
            .max_loaned_responses_per_request(1)
            .create()?;
        Ok(Requests {
            port,
            bells,
            server,
            writes_in_place,
        })
    }
}

/// What wakes each client of a server.
pub(crate) fn bells(
    node: &Node<Kind>,
    exchange: &Exchange<'_>,
) -> Result<BTreeMap<u16, Notifier<Kind>>, MiddlewareError> {
    let bell = |client| {
        let events = exchange::events_of_client(node, exchange, client)?;
        Ok((client, events.notifier_builder().create()?))
    };
    exchange.clients().map(bell).collect()
}

impl Inbox for Requests {
    #[inline]
    fn empty(&mut self) -> Result<bool, MiddlewareError> {
        let mut found = false;
        while let Some(request) = self.port.receive()? {
            let mut response = Response {
                bell: self.bells.get(request.user_header()),
                request: &request,
            };
            let way = if self.writes_in_place {
                PublisherMut::InPlace(&mut response)
            } else {
                PublisherMut::Copying(&mut response)
            };
            self.server.serve(request.payload(), way);
            found = true;
        }
        Ok(found)
    }
}

/// The response to one request.
struct Response<'a> {
    request: &'a ActiveRequest<Kind, [u8], u16, [u8], ()>,
    bell: Option<&'a Notifier<Kind>>,
}

// SAFETY: it is lent to a call that comes back on the thread which owns the port, and dropped there.
unsafe impl Send for Response<'_> {}

impl Response<'_> {
    #[inline]
    fn hand_over(&self, response: ResponseMut<Kind, [u8], ()>) -> Result<(), PublishError> {
        response.send().map_err(not_sent)?;
        match self.bell {
            None => Ok(()),
            Some(bell) => bell.notify().map(drop).map_err(not_notified),
        }
    }
}

impl PublishInPlace for Response<'_> {
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        let mut loan = self.request.loan_slice_uninit(size_bytes).map_err(not_loaned)?;
        write(loan.payload_mut());
        // SAFETY: `write` has initialised every byte.
        self.hand_over(unsafe { loan.assume_init() })
    }
}

impl Publish for Response<'_> {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let loan = self.request.loan_slice_uninit(message.len()).map_err(not_loaned)?;
        self.hand_over(loan.write_from_slice(message))
    }
}
