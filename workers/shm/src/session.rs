//! The session of an application over rings: it attaches to them, and leaves them when it is closed.

use std::collections::BTreeMap;
use std::sync::Arc;

use middlemark_contract::Effective;
use middlemark_ring::{Reader, Segment, Writer};
use middlemark_runtime::{Channel, MiddlewareError, Options, Publisher, Receiver, Session};

use crate::publisher::{RingPublisher, when_full};
use crate::receive_loop::{ReceiveLoop, ReceiveMode};
use crate::rings;

pub(crate) struct ShmSession {
    rendezvous: String,
    mode: ReceiveMode,
    zero_copy: bool,
    settings: BTreeMap<String, String>,
    loops: Vec<ReceiveLoop>,
    segments: Vec<Arc<Segment>>,
}

impl ShmSession {
    pub(crate) fn new(rendezvous: &str, options: &Options) -> ShmSession {
        ShmSession {
            rendezvous: rendezvous.to_owned(),
            mode: ReceiveMode::of(options),
            zero_copy: options.boolean("zero_copy"),
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
        self.loops.extend(ReceiveLoop::start(self.mode, readers, &receiver)?);
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel) -> Result<Publisher, MiddlewareError> {
        let name = rings::name(&self.rendezvous, channel, usize::from(channel.index));
        let writer = Writer::attach(&name, rings::layout(channel), when_full(channel.qos.congestion))
            .map_err(|error| failure(&name, &error))?;
        self.segments.push(writer.segment());
        let publisher = Box::new(RingPublisher(writer));
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
            receive_mode: self.mode.word().into(),
            zero_copy: self.zero_copy,
            settings,
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        for each in self.loops {
            each.stop();
        }
        for segment in self.segments {
            segment.leave()?;
        }
        Ok(())
    }
}

fn failure(name: &str, error: &std::io::Error) -> MiddlewareError {
    format!("attaching to the ring {name}: {error}").into()
}
