//! The session of an application: rings to publish into, and a delivery on each link to its subscribers.

use std::collections::BTreeMap;
use std::sync::Arc;

use middlemark_contract::{Congestion, Effective};
use middlemark_ring::{Full, Layout, Reader, Segment, WhenFull, Writer};
use middlemark_runtime::{Channel, MiddlewareError, Publish, PublishError, Publisher, Receiver, Session};

use crate::delivery::{Delivery, Postman};
use crate::link::Link;
use crate::program::Program;

/// A ring only carries messages to where they are delayed: it holds so many bytes, or a few of the largest messages.
const RING_BYTES: usize = 4 << 20;

pub(crate) struct SyntheticSession {
    rendezvous: String,
    program: Program,
    settings: BTreeMap<String, String>,
    deliveries: Vec<Delivery>,
    segments: Vec<Arc<Segment>>,
}

impl SyntheticSession {
    pub(crate) fn new(rendezvous: &str, program: Program, settings: BTreeMap<String, String>) -> SyntheticSession {
        SyntheticSession {
            rendezvous: rendezvous.to_owned(),
            program,
            settings,
            deliveries: Vec::new(),
            segments: Vec::new(),
        }
    }

    fn ring(&self, channel: &Channel, publisher: u16) -> (String, Layout) {
        (
            format!("middlemark_{}_{}_{publisher}", self.rendezvous, channel.number),
            Layout::filling(
                channel.size_bytes,
                channel.subscribers.len(),
                RING_BYTES.max(4 * channel.size_bytes),
            ),
        )
    }
}

impl Session for SyntheticSession {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        for publisher in 0..channel.publishers.len() as u16 {
            let (name, layout) = self.ring(channel, publisher);
            let reader = Reader::attach(&name, layout, usize::from(channel.index))?;
            self.segments.push(reader.segment());
            self.deliveries.push(Delivery::start(Postman {
                reader,
                link: Link::new(self.program, channel.size_bytes),
                channel: channel.clone(),
                publisher,
                spin_ns: self.program.release_spin_ns,
                receiver: receiver.clone(),
            })?);
        }
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel) -> Result<Publisher, MiddlewareError> {
        let (name, layout) = self.ring(channel, channel.index);
        let when_full = match channel.qos.congestion {
            Congestion::Block => WhenFull::Wait,
            Congestion::Drop => WhenFull::Refuse,
        };
        let writer = Writer::attach(&name, layout, when_full)?;
        self.segments.push(writer.segment());
        Ok(Publisher::Copying(Box::new(SyntheticPublisher(writer))))
    }

    fn effective(&self) -> Effective {
        Effective {
            transport: "synthetic over shared memory".into(),
            receive_mode: "released by a timer thread, one a link".into(),
            zero_copy: false,
            settings: self.settings.clone(),
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        for delivery in self.deliveries {
            if let Some(lateness) = delivery.stop() {
                eprintln!("released: {:?}", lateness.words("lateness"));
            }
        }
        for segment in self.segments {
            segment.leave()?;
        }
        Ok(())
    }
}

struct SyntheticPublisher(Writer);

impl Publish for SyntheticPublisher {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        self.0.write_copy(message).map_err(|full| match full {
            Full::Behind => PublishError::Full,
            Full::Nobody => PublishError::NotConnected,
        })
    }
}
