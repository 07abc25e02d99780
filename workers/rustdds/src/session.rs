//! A session: one participant in the trial's domain, with its writers and readers.
//!
//! `policies` says what they are asked for, `status` whom they met, `reader` and `writer` move messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use middlemark_contract::{Delivery, Effective, MessagePath, Role};
use middlemark_dds::exchange::Guid;
use middlemark_dds::{Taker, Woken, deliver, sequence_type};
use middlemark_runtime::{Channel, Context, Matched, MiddlewareError};
use rustdds::no_key::{DataWriter, SimpleDataReader};
use rustdds::qos::HasQoSPolicy;
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, GUID, QosPolicies, QosPolicyBuilder, RTPSEntity, Topic, TopicKind,
};

use crate::description;
use crate::message::Octets;
use crate::policies;
use crate::reader::Samples;
use crate::status::Status;
use crate::writer::Writer;

/// An endpoint as it was made.
struct Endpoint {
    role: Role,
    topic: String,
    message_type: String,
    guid: GUID,
    qos: QosPolicies,
}

pub(crate) struct Participant {
    // All of these end before the participant, whose threads they use.
    readers: Vec<Woken>,
    status: Status,
    writers: Vec<Arc<DataWriter<Bytes, Octets>>>,
    endpoints: Vec<Endpoint>,
    options: BTreeMap<String, String>,
    delivery: Delivery,
    entity: DomainParticipant,
}

impl Participant {
    pub(crate) fn open(context: &Context<'_>) -> Result<Participant, MiddlewareError> {
        let (spec, options) = (context.spec, context.options);
        let participant = DomainParticipantBuilder::new(spec.rendezvous.domain)
            .with_only_networks([spec.address])
            .same_host_loopback(options.boolean("same_host_loopback"))
            .socket_receive_buffer_size(options.integer("socket_receive_buffer_bytes") as usize)
            .socket_send_buffer_size(options.integer("socket_send_buffer_bytes") as usize)
            .build()
            .map_err(|error| format!("RustDDS could not open domain {}: {error}", spec.rendezvous.domain))?;
        Ok(Participant {
            readers: Vec::new(),
            writers: Vec::new(),
            status: Status::watch(&participant)?,
            endpoints: Vec::new(),
            options: options.words(),
            delivery: spec.delivery,
            entity: participant,
        })
    }

    fn topic(&self, channel: &Channel) -> Result<Topic, MiddlewareError> {
        let message_type = sequence_type(channel.size_bytes);
        let qos = QosPolicyBuilder::new().build();
        let topic = self
            .entity
            .create_topic(channel.topic.clone(), message_type, &qos, TopicKind::NoKey);
        topic.map_err(|error| format!("RustDDS could not create the topic {}: {error}", channel.topic).into())
    }

    fn note(&mut self, role: Role, channel: &Channel, guid: GUID, qos: QosPolicies) {
        self.endpoints.push(Endpoint {
            role,
            topic: channel.topic.clone(),
            message_type: sequence_type(channel.size_bytes),
            guid,
            qos,
        });
    }
}

impl middlemark_dds::Participant for Participant {
    type Writer = Writer;

    fn reader(&mut self, channel: &Channel, taker: Taker) -> Result<(), MiddlewareError> {
        let requested = policies::qos(&policies::of_reader(channel.qos, channel.size_bytes));
        let subscriber = self.entity.create_subscriber(&requested)?;
        let reader: SimpleDataReader<(), Octets> =
            subscriber.create_simple_datareader_no_key(&self.topic(channel)?, Some(requested))?;
        self.note(Role::Subscriber, channel, reader.guid(), reader.qos().clone());
        let samples = Samples::new(reader, channel.size_bytes, taker);
        self.readers.push(deliver(samples, self.delivery)?);
        Ok(())
    }

    fn writer(&mut self, channel: &Channel, matched: Option<Matched>) -> Result<Writer, MiddlewareError> {
        let requested = policies::qos(&policies::of_writer(channel.qos, channel.size_bytes));
        let publisher = self.entity.create_publisher(&requested)?;
        let writer: DataWriter<Bytes, Octets> =
            publisher.create_datawriter_no_key(&self.topic(channel)?, Some(requested))?;
        let writer = Arc::new(writer);
        self.writers.push(Arc::clone(&writer));
        self.note(Role::Publisher, channel, writer.guid(), writer.qos());
        if let Some(matched) = matched {
            self.status.tell(writer.guid(), matched);
        }
        Ok(Writer {
            writer,
            congestion: channel.qos.congestion,
        })
    }

    fn guid(writer: &Writer) -> Result<Guid, MiddlewareError> {
        Ok(writer.guid())
    }

    fn effective(&self) -> Effective {
        let mut settings = self.options.clone();
        for endpoint in &self.endpoints {
            let kind = if endpoint.role == Role::Publisher {
                "writer"
            } else {
                "reader"
            };
            settings.insert(format!("{kind} {}", endpoint.topic), policies::words(&endpoint.qos));
        }
        Effective {
            transport: "udp".into(),
            paths: vec![MessagePath::Network],
            delivery: self.delivery,
            receive_mode: description::how(self.delivery).into(),
            zero_copy: false,
            security: None,
            settings,
        }
    }

    fn counterparts(&self) -> Vec<String> {
        let words = |endpoint: &Endpoint| {
            let met = self.status.counterparts(endpoint.guid);
            met.words(endpoint.role, &endpoint.topic, &endpoint.message_type)
        };
        self.endpoints.iter().map(words).collect()
    }

    fn close(self) -> Result<(), MiddlewareError> {
        let ended: Vec<_> = self.readers.into_iter().map(Woken::close).collect();
        let watched = self.status.close();
        drop(self.writers);
        drop(self.entity); // ends the library's threads
        ended.into_iter().collect::<Result<(), _>>()?;
        watched
    }
}
