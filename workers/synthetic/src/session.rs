//! The session of an application: rings to publish into, and a delivery on each link to its subscribers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use middlemark_contract::{Congestion, Delivery, Effective, MessagePath};
use middlemark_ring::{Full, Layout, Reader, Segment, WhenFull, Writer};
use middlemark_runtime::{
    Channel, Matched, MiddlewareError, Publish, PublishError, Publisher, Receiver, Session, clock,
};

use crate::description;
use crate::link::Link;
use crate::program::Program;
use crate::release::{Postman, Releases};

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
}

impl Session for SyntheticSession {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        for publisher in 0..channel.publishers.len() as u16 {
            let (name, layout) = self.ring(channel, publisher);
            let reader = Reader::attach(&name, layout, usize::from(channel.index))?;
            self.segments.push(reader.segment());
            self.releases.push(Releases::start(Postman {
                reader,
                link: Link::new(self.program, channel.size_bytes, clock::now_ns()),
                channel: channel.clone(),
                publisher,
                spin_ns: self.program.release_spin_ns,
                is_polling: self.delivery == Delivery::Polling,
                receiver: receiver.clone(),
            })?);
        }
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let (name, layout) = self.ring(channel, channel.index);
        let when_full = match channel.qos.congestion {
            Congestion::Block => WhenFull::Wait(Duration::from_nanos(channel.qos.patience_ns)),
            Congestion::Drop => WhenFull::Refuse,
        };
        let writer = Writer::attach(&name, layout, when_full)?;
        let queue = format!("{} messages; {when_full}", layout.slots());
        self.settings.insert(format!("queue of {}", channel.topic), queue);
        self.segments.push(writer.segment());
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
                eprintln!("released: {:?}", lateness.words("lateness"));
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
        self.matched.by(written, Result::is_ok).map_err(|full| match full {
            Full::Behind => PublishError::Full,
            Full::TimedOut => PublishError::TimedOut,
            Full::Nobody => PublishError::NotConnected,
        })
    }
}
