//! The session of an application over rings: it attaches to them, and leaves them when it is closed.

use std::collections::BTreeMap;
use std::sync::Arc;

use middlemark_contract::{ApplicationSpec, Delivery, Effective, MessagePath, SecurityLevel};
use middlemark_ring::{Reader, Segment, Writer};
use middlemark_runtime::{Channel, Matched, MiddlewareError, Options, Publisher, Receiver, Session};

use crate::description;
use crate::publisher::{RingPublisher, when_full};
use crate::receive_loop::ReceiveLoop;
use crate::rings;

pub(crate) struct ShmSession {
    rendezvous: String,
    delivery: Delivery,
    zero_copy: bool,
    security: Option<SecurityLevel>,
    settings: BTreeMap<String, String>,
    loops: Vec<ReceiveLoop>,
    segments: Vec<Arc<Segment>>,
}

impl ShmSession {
    pub(crate) fn new(spec: &ApplicationSpec, options: &Options) -> ShmSession {
        ShmSession {
            rendezvous: spec.rendezvous.name.clone(),
            delivery: spec.delivery,
            zero_copy: options.boolean("zero_copy"),
            security: spec.security_level(),
            settings: options.words(),
            loops: Vec::new(),
            segments: Vec::new(),
        }
    }
}

impl Session for ShmSession {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        let layout = rings::layout(channel);
        let readers: Vec<_> = (0..channel.publishers.len())
            .map(|publisher| {
                let name = rings::name(&self.rendezvous, channel, publisher);
                Reader::attach(&name, layout, usize::from(channel.index)).map_err(|error| failure(&name, &error))
            })
            .collect::<Result<_, _>>()?;
        self.segments.extend(readers.iter().map(Reader::segment));
        self.loops
            .extend(ReceiveLoop::start(self.delivery, readers, &receiver)?);
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let name = rings::name(&self.rendezvous, channel, usize::from(channel.index));
        let writer = Writer::attach(&name, rings::layout(channel), when_full(&channel.qos))
            .map_err(|error| failure(&name, &error))?;
        self.segments.push(writer.segment());
        self.settings.insert(
            format!("publisher {}", channel.topic),
            when_full(&channel.qos).to_string(),
        );
        let publisher = Box::new(RingPublisher { writer, matched });
        Ok(if self.zero_copy {
            Publisher::InPlace(publisher)
        } else {
            Publisher::Copying(publisher)
        })
    }

    fn effective(&self) -> Effective {
        let mut settings = self.settings.clone();
        let ring = |segment: &Arc<Segment>| {
            let layout = segment.layout();
            let (slots, bytes) = (layout.slots(), layout.message_bytes());
            format!("{} ({slots} slots of {bytes} bytes)", segment.path().display())
        };
        let rings: Vec<_> = self.segments.iter().map(ring).collect();
        settings.insert("rings".into(), rings.join(", "));
        Effective {
            transport: "shared memory".into(),
            paths: vec![MessagePath::SharedMemory],
            delivery: self.delivery,
            receive_mode: description::deliveries().how(self.delivery).unwrap_or_default().into(),
            zero_copy: self.zero_copy,
            security: self.security,
            settings,
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        for each in self.loops {
            each.stop();
        }
        let left: Vec<_> = self.segments.into_iter().map(|segment| segment.leave()).collect();
        Ok(left.into_iter().collect::<Result<(), _>>()?)
    }
}

fn failure(name: &str, error: &std::io::Error) -> MiddlewareError {
    format!("attaching to the ring {name}: {error}").into()
}
