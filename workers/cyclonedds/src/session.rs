//! A session: one participant in the trial's domain, with its writers and readers.
//!
//! `configuration` says how the domain is configured, `reader` how messages come in.

use std::collections::BTreeMap;
use std::ffi::CString;

use middlemark_contract::{Congestion, Delivery, Effective, History, MessagePath};
use middlemark_dds::{Matches, Peers, Policies, Reader, checked};
use middlemark_runtime::{
    Channel, Context, Matched, MiddlewareError, Publish, PublishError, Publisher, Receiver, Session,
};

use crate::configuration;
use crate::reader;
use crate::shim::{self, TIMED_OUT, UNLIMITED};

pub(crate) struct Participant {
    domain: i32,
    entity: i32,
    delivery: Delivery,
    configuration: String,
    options: BTreeMap<String, String>,
    readers: Vec<(String, Reader)>,
    writers: Vec<(String, i32)>,
    matches: Matches,
}

impl Participant {
    pub(crate) fn open(context: &Context<'_>) -> Result<Participant, MiddlewareError> {
        let spec = context.spec;
        let keep_all = context
            .channels
            .iter()
            .filter(|channel| channel.qos.history == History::KeepAll);
        let queues = keep_all.map(|channel| channel.queued_bytes() as i64);
        let configuration = configuration::render(
            context.options,
            spec.address,
            &Peers::of(&spec.streams),
            queues.min().unwrap_or(i64::MAX),
        );
        let text = CString::new(configuration.as_str())?;
        let mut domain = 0;
        // SAFETY: the configuration lives through the call, and `domain` can be written.
        let code = unsafe { shim::mm_open(u32::from(spec.rendezvous.domain), text.as_ptr(), &raw mut domain) };
        let number = spec.rendezvous.domain;
        let entity = checked(
            code,
            &format!("open domain {number} on {} ({configuration})", spec.address),
        )?;
        Ok(Participant {
            domain,
            entity,
            delivery: spec.delivery,
            configuration,
            options: context.options.words(),
            readers: Vec::new(),
            writers: Vec::new(),
            matches: Matches::default(),
        })
    }
}

impl Session for Participant {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        let topic = CString::new(channel.topic.as_str())?;
        let policies = Policies::of(channel.qos, channel.size_bytes, UNLIMITED);
        let reader = reader::open(
            self.entity,
            &topic,
            &policies,
            channel.size_bytes,
            self.delivery,
            receiver,
        )?;
        self.readers.push((channel.topic.clone(), reader));
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let topic = CString::new(channel.topic.as_str())?;
        let policies = Policies::of(channel.qos, channel.size_bytes, UNLIMITED);
        let matching = self.matches.keep(matched);
        // SAFETY: the topic and the policies live through the call, the match until the domain is closed.
        let code = unsafe { shim::mm_writer(self.entity, topic.as_ptr(), &raw const policies, matching) };
        let writer = checked(code, &format!("create the writer of {}", channel.topic))?;
        self.writers.push((channel.topic.clone(), writer));
        Ok(Publisher::Copying(Box::new(Writer {
            writer,
            congestion: channel.qos.congestion,
        })))
    }

    fn effective(&self) -> Effective {
        let mut settings = self.options.clone();
        settings.insert("configuration".into(), self.configuration.clone());
        settings.insert(
            "queue".into(),
            "max_samples at the reader; a reliable writer keeps what is unacknowledged up to WhcHigh".into(),
        );
        for (topic, reader) in &self.readers {
            settings.insert(format!("reader {topic}"), read_back(reader::entity(reader)));
        }
        for (topic, writer) in &self.writers {
            settings.insert(format!("writer {topic}"), read_back(*writer));
        }
        // SAFETY: the writers live as long as the session.
        let shared = self
            .writers
            .iter()
            .any(|(_, writer)| unsafe { shim::mm_loans_shared_memory(*writer) } == 1);
        Effective {
            transport: if shared { "shared memory" } else { "udp" }.into(),
            paths: if shared {
                vec![MessagePath::SharedMemory, MessagePath::Network]
            } else {
                vec![MessagePath::Network]
            },
            delivery: self.delivery,
            receive_mode: middlemark_dds::how(self.delivery).into(),
            zero_copy: false,
            security: None,
            settings,
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        let ended: Vec<_> = self.readers.into_iter().map(|(_, reader)| reader.close()).collect();
        // SAFETY: the domain was opened by this session, and no thread of the worker uses it any more.
        checked(unsafe { shim::mm_delete(self.domain) }, "close the domain")?;
        ended.into_iter().collect()
    }
}

/// The policies that an entity really has.
fn read_back(entity: i32) -> String {
    // SAFETY: the policies can be written; a wrong entity is answered with an error.
    middlemark_dds::read_back(|found| unsafe { shim::mm_read_back(entity, found) }, Policies::words)
}

struct Writer {
    writer: i32,
    congestion: Congestion,
}

impl Publish for Writer {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        // SAFETY: the message lives through the call, which serialises it; its size is at most what `description` allows.
        match unsafe { shim::mm_write(self.writer, message.as_ptr(), message.len() as u32) } {
            0.. => Ok(()),
            TIMED_OUT if self.congestion == Congestion::Drop => Err(PublishError::Full),
            TIMED_OUT => Err(PublishError::TimedOut),
            code => Err(PublishError::Failed {
                call: "dds_write",
                code: i64::from(code),
            }),
        }
    }
}
