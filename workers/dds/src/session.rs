//! A session of DDS: the ends of streams and of exchanges, as they follow from making readers and writers.
//!
//! A worker's participant makes these, and says what it really applied; `exchange` has the two topics of requests and responses.

use middlemark_contract::Effective;
use middlemark_runtime::{Channel, Exchange, Matched, MiddlewareError, Publish, Publisher, Receiver, Server, Session};

use crate::Taker;
use crate::exchange::{self, Awaiting, Guid, Serving};

/// One participant in the trial's domain, of any implementation.
pub trait Participant {
    /// The publishing end of a writer.
    type Writer: Publish + 'static;

    /// Makes a reader, whose samples `taker` takes.
    ///
    /// # Errors
    /// What the library reported.
    fn reader(&mut self, channel: &Channel, taker: Taker) -> Result<(), MiddlewareError>;

    /// Makes a writer; its first match is told where anybody wants to know.
    ///
    /// # Errors
    /// What the library reported.
    fn writer(&mut self, channel: &Channel, matched: Option<Matched>) -> Result<Self::Writer, MiddlewareError>;

    /// What tells a writer from all others.
    ///
    /// # Errors
    /// What the library reported.
    fn guid(writer: &Self::Writer) -> Result<Guid, MiddlewareError>;

    /// As of [`Session`].
    fn effective(&self) -> Effective;

    /// As of [`Session`].
    fn counterparts(&self) -> Vec<String>;

    /// As of [`Session`].
    ///
    /// # Errors
    /// What the library reported.
    fn close(self) -> Result<(), MiddlewareError>;
}

/// The session of a participant.
pub struct DdsSession<P>(pub P);

impl<P: Participant> Session for DdsSession<P> {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        self.0.reader(channel, Taker::Subscriber(receiver))
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let writer = self.0.writer(channel, Some(matched))?;
        Ok(Publisher::Copying(Box::new(writer)))
    }

    fn server(&mut self, exchange: &Exchange<'_>, server: Server) -> Result<(), MiddlewareError> {
        let [requests, responses] = exchange::channels(exchange);
        let writer = self.0.writer(&responses, None)?;
        let serving = Serving::new(server, Box::new(writer), &responses);
        self.0.reader(&requests, Taker::Server(serving))
    }

    fn client(
        &mut self,
        exchange: &Exchange<'_>,
        responses: Receiver,
        found: Matched,
    ) -> Result<Publisher, MiddlewareError> {
        let [requests, answers] = exchange::channels(exchange);
        let writer = self.0.writer(&requests, Some(found))?;
        let guid = P::guid(&writer)?;
        self.0.reader(&answers, Taker::Client(Awaiting { guid, responses }))?;
        Ok(exchange::requests(Box::new(writer), guid, &requests))
    }

    fn effective(&self) -> Effective {
        self.0.effective()
    }

    fn counterparts(&self) -> Vec<String> {
        self.0.counterparts()
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        self.0.close()
    }
}
