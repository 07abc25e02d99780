//! The session of an application: rings to publish into, and a delivery on each link to its subscribers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use middlemark_contract::{Congestion, Delivery, Effective, MessagePath};
use middlemark_ring::{Full, Layout, Reader, Segment, WhenFull, Writer};
use middlemark_runtime::{
    Channel, Exchange, Matched, MiddlewareError, Publish, PublishError, Publisher, Receiver, Server, Session, clock,
};

use crate::description;
use crate::link::Link;
use crate::program::Program;
use crate::release::{Postman, Releases, Taker};

pub(crate) struct SyntheticSession {
    rendezvous: String,
    program: Program,
    delivery: Delivery,
    settings: BTreeMap<String, String>,
    releases: Vec<Releases>,
    segments: Vec<Arc<Segment>>,
}

impl SyntheticSession {
    pub(crate) fn new(
        rendezvous: &str,
        program: Program,
        delivery: Delivery,
        settings: BTreeMap<String, String>,
    ) -> SyntheticSession {
        SyntheticSession {
            rendezvous: rendezvous.to_owned(),
            program,
            delivery,
            settings,
            releases: Vec::new(),
            segments: Vec::new(),
        }
    }

    fn ring(&self, channel: &Channel, publisher: u16) -> (String, Layout) {
        (
            format!("middlemark_{}_{}_{publisher}", self.rendezvous, channel.number),
            Layout::new(channel.size_bytes, channel.subscribers.len(), channel.queued_messages()),
        )
    }

    /// The ring that carries one client's requests to its server, or the responses to them.
    fn ring_of_client(&self, channel: &Channel, client: u16) -> (String, Layout) {
        let (name, _) = self.ring(channel, client);
        (name, Layout::new(channel.size_bytes, 1, channel.queued_messages()))
    }

    fn writer(&mut self, channel: &Channel, ring: &(String, Layout)) -> Result<Writer, MiddlewareError> {
        let (name, layout) = ring;
        let when_full = match channel.qos.congestion {
            Congestion::Block => WhenFull::Wait(Duration::from_nanos(channel.qos.patience_ns)),
            Congestion::Drop => WhenFull::Refuse,
        };
        let writer = Writer::attach(name, *layout, when_full)?;
        let queue = format!("{} messages; {when_full}", layout.slots());
        self.settings.insert(format!("queue of {}", channel.topic), queue);
        self.segments.push(writer.segment());
        Ok(writer)
    }

    /// Releases what comes through a ring from this publisher, at the channel's own index.
    fn release(
        &mut self,
        channel: &Channel,
        publisher: u16,
        reader: Reader,
        taker: Taker,
    ) -> Result<(), MiddlewareError> {
        self.segments.push(reader.segment());
        self.releases.push(Releases::start(Postman {
            reader,
            link: Link::new(self.program, channel.size_bytes, clock::now_ns()),
            channel: channel.clone(),
            publisher,
            spin_ns: self.program.release_spin_ns,
            is_polling: self.delivery == Delivery::Polling,
            taker,
        })?);
        Ok(())
    }
}

impl Session for SyntheticSession {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        for publisher in 0..channel.publishers.len() as u16 {
            let (name, layout) = self.ring(channel, publisher);
            let reader = Reader::attach(&name, layout, usize::from(channel.index))?;
            self.release(channel, publisher, reader, Taker::Receiver(receiver.clone()))?;
        }
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let writer = self.writer(channel, &self.ring(channel, channel.index))?;
        Ok(Publisher::Copying(Box::new(SyntheticPublisher { writer, matched })))
    }

    fn server(&mut self, exchange: &Exchange<'_>, server: Server) -> Result<(), MiddlewareError> {
        let (requests, responses) = (exchange.requests, exchange.responses);
        for client in exchange.clients() {
            let writer = self.writer(responses, &self.ring_of_client(responses, client))?;
            let (name, layout) = self.ring_of_client(requests, client);
            let reader = Reader::attach(&name, layout, 0)?;
            let taker = Taker::Server(server.clone(), Box::new(Responding(writer)));
            self.release(requests, client, reader, taker)?;
        }
        Ok(())
    }

    fn client(
        &mut self,
        exchange: &Exchange<'_>,
        responses: Receiver,
        found: Matched,
    ) -> Result<Publisher, MiddlewareError> {
        let client = exchange.requests.index;
        let (name, layout) = self.ring_of_client(exchange.responses, client);
        let reader = Reader::attach(&name, layout, 0)?;
        self.release(exchange.responses, exchange.server, reader, Taker::Receiver(responses))?;
        let ring = self.ring_of_client(exchange.requests, client);
        let writer = self.writer(exchange.requests, &ring)?;
        let matched = found;
        Ok(Publisher::Copying(Box::new(SyntheticPublisher { writer, matched })))
    }

    fn effective(&self) -> Effective {
        Effective {
            transport: "synthetic over shared memory".into(),
            paths: vec![MessagePath::SharedMemory],
            delivery: self.delivery,
            receive_mode: description::deliveries().how(self.delivery).unwrap_or_default().into(),
            zero_copy: false,
            security: None,
            settings: self.settings.clone(),
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        for releases in self.releases {
            if let Some(lateness) = releases.stop() {
                let words = lateness.words("lateness");
                let words: Vec<_> = words.iter().map(|(name, value)| format!("{name} {value}")).collect();
                eprintln!("released: {}", words.join(", "));
            }
        }
        for segment in self.segments {
            segment.leave()?;
        }
        Ok(())
    }
}

struct SyntheticPublisher {
    writer: Writer,
    matched: Matched,
}

impl Publish for SyntheticPublisher {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let written = || self.writer.write_copy(message);
        self.matched.by(written, Result::is_ok).map_err(refusal)
    }
}

/// What carries a server's responses to one client.
struct Responding(Writer);

impl Publish for Responding {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        self.0.write_copy(message).map_err(refusal)
    }
}

fn refusal(full: Full) -> PublishError {
    match full {
        Full::Behind => PublishError::Full,
        Full::TimedOut => PublishError::TimedOut,
        Full::Nobody => PublishError::NotConnected,
    }
}
