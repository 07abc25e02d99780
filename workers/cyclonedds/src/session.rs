//! A session: one participant in the trial's domain, with its writers and readers.
//!
//! `configuration` says how the domain is configured, `reader` how messages come in.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::ptr;

use middlemark_contract::{
    ApplicationSpec, Congestion, Delivery, Effective, History, MessagePath, PatternSpec, Reach, Role, SecurityLevel,
};
use middlemark_dds::exchange::Guid;
use middlemark_dds::security::{self as dds_security, Properties};
use middlemark_dds::{
    Counterparts, Matches, Peers, Policies, Reader, ShimError, Taker, WaitSet, checked, sequence_type, wait_set,
};
use middlemark_runtime::{Channel, Context, Matched, MiddlewareError, Options, Publish, PublishError};

use crate::configuration;
use crate::reader;
use crate::security;
use crate::shim::{self, TIMED_OUT, UNLIMITED};

pub(crate) struct Participant {
    domain: i32,
    entity: i32,
    delivery: Delivery,
    reach: Reach,
    configuration: String,
    security: Option<SecurityLevel>,
    options: BTreeMap<String, String>,
    /// By topic, the name of its type.
    types: BTreeMap<String, String>,
    /// The topics whose writers share packets.
    batched: BTreeSet<String>,
    /// Where the readers share one; it ends before they do.
    wait_set: Option<WaitSet>,
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
        let properties = match &spec.security {
            Some(security) => security::properties(&security.files)?,
            None => Properties::default(),
        };
        let shim_properties = properties.as_shim();
        let (mut domain, number) = (0, spec.rendezvous.domain);
        // SAFETY: configuration and properties live through the call, and `domain` can be written.
        let code = unsafe {
            shim::mm_open(
                u32::from(number),
                text.as_ptr(),
                shim_properties.as_ptr(),
                shim_properties.len(),
                &raw mut domain,
            )
        };
        let entity = checked(
            code,
            &format!("open domain {number} on {} ({configuration})", spec.address),
        )?;
        // SAFETY: the participant exists, and the property lives through the call.
        let has = |property| unsafe { shim::mm_has_property(entity, property) } == 1;
        let level = spec.security.as_ref().map(|security| security.level);
        let is_shared = spec.delivery == Delivery::OwnThread && wait_set::is_shared(context.options);
        let shared = is_shared.then(|| reader::wait_set(entity)).transpose()?;
        Ok(Participant {
            security: level.filter(|_| properties.are_all(has)),
            domain,
            entity,
            delivery: spec.delivery,
            reach: spec.reach(),
            configuration,
            options: context.options.words(),
            types: BTreeMap::new(),
            batched: batched(spec, context.options),
            wait_set: shared,
            readers: Vec::new(),
            writers: Vec::new(),
            matches: Matches::default(),
        })
    }
}

impl middlemark_dds::Participant for Participant {
    type Writer = Writer;

    fn reader(&mut self, channel: &Channel, taker: Taker) -> Result<(), MiddlewareError> {
        let topic = CString::new(channel.topic.as_str())?;
        let policies = Policies::of(channel.qos, channel.size_bytes, UNLIMITED);
        let (size_bytes, how) = (channel.size_bytes, (self.delivery, self.wait_set.as_ref()));
        let reader = reader::open(self.entity, &topic, &policies, size_bytes, how, taker)?;
        self.types
            .insert(channel.topic.clone(), sequence_type(channel.size_bytes));
        self.readers.push((channel.topic.clone(), reader));
        Ok(())
    }

    /// A writer; its matches are told where anybody wants to know.
    fn writer(&mut self, channel: &Channel, matched: Option<Matched>) -> Result<Writer, MiddlewareError> {
        let topic = CString::new(channel.topic.as_str())?;
        let policies = Policies::of(channel.qos, channel.size_bytes, UNLIMITED);
        let type_name = sequence_type(channel.size_bytes);
        let shim_type_name = CString::new(type_name.as_str())?;
        let matching = matched.map_or(ptr::null(), |matched| self.matches.keep(matched));
        let is_batching = self.batched.contains(&channel.topic);
        // SAFETY: the names and the policies live through the call, the match until the domain is closed.
        let code = unsafe {
            shim::mm_writer(
                self.entity,
                topic.as_ptr(),
                shim_type_name.as_ptr(),
                &raw const policies,
                is_batching.into(),
                matching,
            )
        };
        let writer = checked(code, &format!("create the writer of {}", channel.topic))?;
        self.types.insert(channel.topic.clone(), type_name);
        self.writers.push((channel.topic.clone(), writer));
        Ok(Writer {
            entity: writer,
            congestion: channel.qos.congestion,
            is_batching,
        })
    }

    fn guid(writer: &Writer) -> Result<Guid, MiddlewareError> {
        Ok(writer.guid()?)
    }

    fn effective(&self) -> Effective {
        let mut settings = self.options.clone();
        settings.insert("configuration".into(), self.configuration.clone());
        settings.insert(
            "queue".into(),
            "max_samples at the reader; a reliable writer keeps what is unacknowledged up to WhcHigh".into(),
        );
        dds_security::state(self.security, &mut settings);
        for (topic, reader) in &self.readers {
            settings.insert(format!("reader {topic}"), read_back(reader::entity(reader)));
        }
        for (topic, writer) in &self.writers {
            settings.insert(format!("writer {topic}"), read_back(*writer) + batching(*writer));
        }
        // SAFETY: the writers live as long as the session.
        let is_shared = |(_, writer): &(String, i32)| unsafe { shim::mm_loans_shared_memory(*writer) } == 1;
        let (transport, path) = if self.writers.iter().any(is_shared) {
            ("shared memory", MessagePath::SharedMemory)
        } else {
            ("udp", MessagePath::Network)
        };
        Effective {
            transport: transport.into(),
            paths: self.reach.paths(MessagePath::Process, path),
            delivery: self.delivery,
            receive_mode: wait_set::how(self.delivery, self.wait_set.as_ref()).into(),
            zero_copy: false,
            security: self.security,
            settings,
        }
    }

    fn counterparts(&self) -> Vec<String> {
        let readers = self
            .readers
            .iter()
            .map(|(topic, reader)| (topic, reader::entity(reader), Role::Subscriber));
        let writers = self
            .writers
            .iter()
            .map(|(topic, writer)| (topic, *writer, Role::Publisher));
        let told = writers.chain(readers).map(|(topic, entity, role)| {
            let is_writer = i32::from(role == Role::Publisher);
            // SAFETY: the counterparts can be written; a wrong entity is answered with an error.
            let read = |found| unsafe { shim::mm_counterparts_of(entity, is_writer, found) };
            middlemark_dds::read_back(read, |met: &Counterparts| met.words(role, topic, &self.types[topic]))
        });
        told.collect()
    }

    fn close(self) -> Result<(), MiddlewareError> {
        let waited = self.wait_set.map_or(Ok(()), WaitSet::close);
        let ended: Vec<_> = self.readers.into_iter().map(|(_, reader)| reader.close()).collect();
        // SAFETY: the domain was opened by this session, and no thread of the worker uses it any more.
        checked(unsafe { shim::mm_delete(self.domain) }, "close the domain")?;
        waited?;
        ended.into_iter().collect()
    }
}

/// The policies that an entity really has.
fn read_back(entity: i32) -> String {
    // SAFETY: the policies can be written; a wrong entity is answered with an error.
    middlemark_dds::read_back(|found| unsafe { shim::mm_read_back(entity, found) }, Policies::words)
}

/// How a writer really sends.
fn batching(writer: i32) -> &'static str {
    // SAFETY: it takes a number; a wrong entity is answered with an error.
    match unsafe { shim::mm_is_batching(writer) } {
        1 => ", batching",
        _ => "",
    }
}

/// The topics without a pause between messages, where the option lets these share packets. With one, nobody would send a
/// packet that is not full: "there is no mechanism for the write cache to automatically flush itself" (Internal/WriteBatch).
fn batched(spec: &ApplicationSpec, options: &Options) -> BTreeSet<String> {
    let streams = spec.streams.iter().enumerate();
    streams
        .filter(|_| options.boolean("write_batching"))
        .filter(|(_, stream)| matches!(stream.pattern, PatternSpec::Unthrottled { .. }))
        .map(|(position, stream)| Channel::topics(&spec.rendezvous, position, &stream.name))
        .map(|[messages, _]| messages)
        .collect()
}

pub(crate) struct Writer {
    entity: i32,
    congestion: Congestion,
    is_batching: bool,
}

impl Writer {
    fn guid(&self) -> Result<Guid, ShimError> {
        let mut guid = Guid::default();
        // SAFETY: a GUID can be written; a wrong entity is answered with an error.
        let code = unsafe { shim::mm_writer_guid(self.entity, &raw mut guid) };
        checked(code, "read a writer's GUID").map(|_| guid)
    }
}

impl Publish for Writer {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        // SAFETY: the message lives through the call, which serialises it; its size is at most what `description` allows.
        match unsafe { shim::mm_write(self.entity, message.as_ptr(), message.len() as u32) } {
            0.. => Ok(()),
            TIMED_OUT if self.congestion == Congestion::Drop => Err(PublishError::Full),
            TIMED_OUT => Err(PublishError::TimedOut),
            code => Err(PublishError::Failed {
                call: "dds_write",
                code: i64::from(code),
            }),
        }
    }

    fn flush(&mut self) {
        if self.is_batching {
            // SAFETY: it takes a number. What can't be sent now is lost, as what was sent may be.
            unsafe { shim::mm_flush(self.entity) };
        }
    }
}
