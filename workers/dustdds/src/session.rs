//! A session: one participant in the trial's domain, with its writers and readers.
//!
//! `transport` makes it, `policies` says what endpoints are asked for, `listener` whom they met, `reader` and `writer` move
//! messages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use dust_dds::domain::domain_participant::DomainParticipant;
use dust_dds::infrastructure::listener::NO_LISTENER;
use dust_dds::infrastructure::qos::QosKind;
use dust_dds::infrastructure::status::NO_STATUS;
use dust_dds::publication::data_writer::DataWriter;
use dust_dds::publication::publisher::Publisher;
use dust_dds::subscription::data_reader::DataReader;
use dust_dds::subscription::subscriber::Subscriber;
use dust_dds::topic_definition::topic::Topic;
use middlemark_contract::{ApplicationSpec, Delivery, Effective, MessagePath, PatternSpec, Role};
use middlemark_dds::exchange::Guid;
use middlemark_dds::{Taker, Woken, deliver, sequence_type};
use middlemark_runtime::{Channel, Context, Matched, MiddlewareError};

use crate::description;
use crate::listener::{Met, OF_READERS, OF_WRITERS, OfReader, OfWriter};
use crate::message::Octets;
use crate::policies::{self, Pace};
use crate::reader::Samples;
use crate::transport::{self, Factory};
use crate::writer::Writer;

pub(crate) struct Participant {
    readers: Vec<Woken>,
    endpoints: Vec<Endpoint>,
    topics: BTreeMap<String, Topic>,
    publisher: Publisher,
    subscriber: Subscriber,
    entity: DomainParticipant,
    factory: Factory,
    options: BTreeMap<String, String>,
    delivery: Delivery,
    /// The topics of streams whose messages follow a schedule.
    scheduled: BTreeSet<String>,
    /// How many publishers the whole trial has.
    publishers: usize,
}

/// An endpoint as it was made.
struct Endpoint {
    entity: Entity,
    topic: String,
    message_type: String,
    met: Met,
}

enum Entity {
    Writer(DataWriter<Octets>),
    Reader(DataReader<Octets>),
}

impl Endpoint {
    /// The policies that it really has, by its kind and topic.
    fn setting(&self) -> (String, String) {
        let (kind, policies) = match &self.entity {
            Entity::Writer(writer) => ("writer", writer.get_qos().map(|qos| policies::writer_words(&qos))),
            Entity::Reader(reader) => ("reader", reader.get_qos().map(|qos| policies::reader_words(&qos))),
        };
        let words = policies.unwrap_or_else(|error| error.to_string());
        (format!("{kind} {}", self.topic), words)
    }

    fn counterparts(&self) -> String {
        let role = match self.entity {
            Entity::Writer(_) => Role::Publisher,
            Entity::Reader(_) => Role::Subscriber,
        };
        self.met.counterparts().words(role, &self.topic, &self.message_type)
    }
}

impl Participant {
    pub(crate) fn open(context: &Context<'_>) -> Result<Participant, MiddlewareError> {
        let spec = context.spec;
        let factory = transport::factory(context)?;
        let domain = i32::from(spec.rendezvous.domain);
        let entity = factory.create_participant(domain, QosKind::Default, NO_LISTENER, NO_STATUS)?;
        Ok(Participant {
            readers: Vec::new(),
            endpoints: Vec::new(),
            topics: BTreeMap::new(),
            publisher: entity.create_publisher(QosKind::Default, NO_LISTENER, NO_STATUS)?,
            subscriber: entity.create_subscriber(QosKind::Default, NO_LISTENER, NO_STATUS)?,
            entity,
            factory,
            options: context.options.words(),
            delivery: spec.delivery,
            scheduled: scheduled(spec),
            publishers: spec.streams.iter().map(|stream| stream.publishers.len()).sum(),
        })
    }

    /// What holds back who publishes on a channel: a schedule, but no exchange has its requests answered by one.
    fn pace(&self, channel: &Channel) -> Pace {
        Pace {
            is_scheduled: self.scheduled.contains(&channel.topic),
            publishers: self.publishers,
        }
    }

    /// The topic of a channel; the library makes each only once.
    fn topic(&mut self, channel: &Channel) -> Result<Topic, MiddlewareError> {
        if let Some(topic) = self.topics.get(&channel.topic) {
            return Ok(topic.clone());
        }
        let message_type = sequence_type(channel.size_bytes);
        let made =
            self.entity
                .create_topic::<Octets>(&channel.topic, &message_type, QosKind::Default, NO_LISTENER, NO_STATUS);
        let topic = made.map_err(|error| format!("Dust DDS could not create the topic {}: {error}", channel.topic))?;
        self.topics.insert(channel.topic.clone(), topic.clone());
        Ok(topic)
    }

    fn note(&mut self, channel: &Channel, entity: Entity, met: Met) {
        self.endpoints.push(Endpoint {
            entity,
            topic: channel.topic.clone(),
            message_type: sequence_type(channel.size_bytes),
            met,
        });
    }
}

fn scheduled(spec: &ApplicationSpec) -> BTreeSet<String> {
    let streams = spec.streams.iter().enumerate();
    streams
        .filter(|(_, stream)| matches!(stream.pattern, PatternSpec::Periodic { .. } | PatternSpec::Burst { .. }))
        .flat_map(|(position, stream)| Channel::topics(&spec.rendezvous, position, &stream.name))
        .collect()
}

impl middlemark_dds::Participant for Participant {
    type Writer = Writer;

    fn reader(&mut self, channel: &Channel, taker: Taker) -> Result<(), MiddlewareError> {
        let topic = self.topic(channel)?;
        let qos = policies::of_reader(channel.qos, channel.size_bytes);
        let (met, waker) = (Met::default(), Arc::<OnceLock<_>>::default());
        let listener = OfReader {
            met: met.clone(),
            waker: Arc::clone(&waker),
        };
        let reader: DataReader<Octets> =
            self.subscriber
                .create_datareader(&topic, QosKind::Specific(qos), Some(listener), &OF_READERS)?;
        self.note(channel, Entity::Reader(reader.clone()), met);
        let samples = Samples::new(reader, channel.size_bytes, waker, taker);
        self.readers.push(deliver(samples, self.delivery)?);
        Ok(())
    }

    fn writer(&mut self, channel: &Channel, matched: Option<Matched>) -> Result<Writer, MiddlewareError> {
        let topic = self.topic(channel)?;
        let qos = policies::of_writer(channel.qos, channel.size_bytes, self.pace(channel));
        let met = Met::default();
        let listener = OfWriter {
            met: met.clone(),
            matched,
        };
        let writer: DataWriter<Octets> =
            self.publisher
                .create_datawriter(&topic, QosKind::Specific(qos), Some(listener), &OF_WRITERS)?;
        self.note(channel, Entity::Writer(writer.clone()), met);
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
        settings.insert("announcements".into(), transport::WORDS.into());
        settings.extend(self.endpoints.iter().map(Endpoint::setting));
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
        self.endpoints.iter().map(Endpoint::counterparts).collect()
    }

    fn close(self) -> Result<(), MiddlewareError> {
        let ended: Vec<_> = self.readers.into_iter().map(Woken::close).collect();
        self.entity.delete_contained_entities()?;
        self.factory.delete_participant(&self.entity)?;
        ended.into_iter().collect()
    }
}
