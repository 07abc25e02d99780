//! A session: one participant in the trial's domain, with its writers and readers.
//!
//! `transport` says which way messages take, `quality` what the policies are, `reader` and `writer` carry them.

use std::collections::BTreeMap;
use std::ffi::{CString, NulError};
use std::fs::File;
use std::ptr;

use middlemark_contract::{Delivery, Effective, MessagePath, Rendezvous, Role, SecurityLevel};
use middlemark_dds::exchange::{self, Awaiting, Serving};
use middlemark_dds::security::{self as dds_security, Properties};
use middlemark_dds::{
    Counterparts, Matches, Reader, Taker, WaitSet, checked, opened, read_back, sequence_type, wait_set,
};
use middlemark_runtime::{
    Channel, Context, Exchange, Matched, MiddlewareError, Options, Publisher, Receiver, Server, Session,
};

use crate::discovery::{Discovery, ShimPlaces};
use crate::quality;
use crate::reader::{self, Taking};
use crate::security;
use crate::shim::{self, ShimSession, ShimTransports, ShimType, ShimWriter};
use crate::transport::semaphores;
use crate::transport::{self, INTRAPROCESS, Transport};
use crate::writer::Writer;

pub(crate) struct Participant {
    handle: *mut ShimSession,
    options: Options,
    delivery: Delivery,
    transport: Transport,
    security: Option<SecurityLevel>,
    zero_copy: bool,
    /// By topic, the name of its type.
    types: BTreeMap<String, CString>,
    /// Whether any of its endpoints has loans.
    lends: bool,
    paths: Vec<MessagePath>,
    /// Where the readers share one; it ends before they do.
    wait_set: Option<WaitSet>,
    readers: Vec<(String, Reader)>,
    writers: Vec<(String, *mut ShimWriter)>,
    matches: Matches,
    /// Held for those who clean up after a killed process.
    _semaphores: Vec<File>,
}

impl Participant {
    pub(crate) fn open(context: &Context<'_>) -> Result<Participant, MiddlewareError> {
        let (spec, options) = (context.spec, context.options);
        let transport = Transport::of(options);
        let secret = match &spec.security {
            Some(secured) => {
                let (folder, name) = (&spec.rendezvous.folder, &spec.application);
                Some(security::properties(folder, name, &secured.files)?)
            }
            None => None,
        };
        let open = Properties::default();
        let properties = secret.as_ref().map_or(&open, |(properties, _)| properties);
        let handle = participant(
            &spec.application,
            &spec.rendezvous,
            transport,
            options,
            &Discovery::of_application(spec, options),
            properties,
        )?;
        // SAFETY: the session is open, and the property lives through the call.
        let has = |property| unsafe { shim::mm_has_property(handle, property) } == 1;
        let level = spec.security.as_ref().map(|secured| secured.level);
        let security = level.filter(|_| properties.are_all(has));
        let is_shared = spec.delivery == Delivery::OwnThread && wait_set::is_shared(options);
        drop(secret);
        Ok(Participant {
            handle,
            options: options.clone(),
            delivery: spec.delivery,
            transport,
            security,
            zero_copy: options.boolean("zero_copy") && spec.security.is_none(),
            types: BTreeMap::new(),
            lends: false,
            paths: transport.paths(spec, options),
            wait_set: is_shared.then(reader::wait_set).transpose()?,
            readers: Vec::new(),
            writers: Vec::new(),
            matches: security::matches(handle, level),
            _semaphores: semaphores::hold(),
        })
    }

    /// Whether messages of a channel are lent.
    fn loans(&self, channel: &Channel) -> bool {
        self.zero_copy && transport::can_lend(channel.recorded.is_some(), channel.qos)
    }

    /// The type of a topic; its name lives as long as this session.
    fn message_type(&mut self, channel: &Channel, loans: bool) -> Result<ShimType, NulError> {
        let is_plain = self.transport.needs_plain_type(loans);
        let name = if is_plain {
            format!("middlemark::Array{}", channel.size_bytes)
        } else {
            sequence_type(channel.size_bytes)
        };
        let name = CString::new(name)?;
        let kept = self.types.entry(channel.topic.clone()).or_insert(name);
        Ok(ShimType {
            name: kept.as_ptr(),
            size: channel.size_bytes as u32,
            plain: i32::from(is_plain),
        })
    }

    fn reader(&mut self, channel: &Channel, loans: bool, taker: Taker) -> Result<(), MiddlewareError> {
        let topic = CString::new(channel.topic.as_str())?;
        let policies = quality::policies(channel.qos, channel.size_bytes, &self.options);
        let message_type = self.message_type(channel, loans)?;
        let taking = Taking {
            delivery: self.delivery,
            wait_set: self.wait_set.as_ref(),
            loans,
        };
        self.lends |= loans;
        // SAFETY: the session closes its wait set before its readers, and these before itself; the type's name lives
        // through the call.
        let reader = unsafe { reader::open(self.handle, &topic, message_type, &policies, &taking, taker)? };
        self.readers.push((channel.topic.clone(), reader));
        Ok(())
    }

    /// A writer; its matches are told where anybody wants to know.
    fn writer(&mut self, channel: &Channel, loans: bool, matched: Option<Matched>) -> Result<Writer, MiddlewareError> {
        let topic = CString::new(channel.topic.as_str())?;
        let policies = quality::policies(channel.qos, channel.size_bytes, &self.options);
        let matching = matched.map_or(ptr::null(), |matched| self.matches.keep(matched));
        let message_type = self.message_type(channel, loans)?;
        let handle = opened(&format!("create the writer of {}", channel.topic), |writer, reason| {
            // SAFETY: the session is open; names and policies live through the call, the match until the session is closed.
            unsafe {
                shim::mm_writer_open(
                    self.handle,
                    topic.as_ptr(),
                    message_type,
                    &raw const policies,
                    matching,
                    writer,
                    reason,
                )
            }
        })?;
        self.writers.push((channel.topic.clone(), handle));
        self.lends |= loans;
        let fixed_bytes = (message_type.plain != 0).then_some(channel.size_bytes);
        Ok(Writer::new(handle, &channel.qos, fixed_bytes))
    }
}

/// Makes a participant, an application's or a server's.
pub(crate) fn participant(
    name: &str,
    rendezvous: &Rendezvous,
    transport: Transport,
    options: &Options,
    discovery: &Discovery,
    properties: &Properties,
) -> Result<*mut ShimSession, MiddlewareError> {
    let name = CString::new(name)?;
    let (own, others) = (ShimPlaces::of(&discovery.own), ShimPlaces::of(&discovery.others));
    let level = options.text("intraprocess");
    let properties = properties.as_shim();
    let transports = ShimTransports {
        domain: u32::from(rendezvous.domain),
        name: name.as_ptr(),
        own: own.places.as_ptr(),
        own_count: own.places.len(),
        others: others.places.as_ptr(),
        others_count: others.places.len(),
        discovery: discovery.kind as i32,
        participants: discovery.participants,
        udp: i32::from(transport.has_udp()),
        shared_memory: i32::from(transport.has_shared_memory()),
        large_data: i32::from(transport == Transport::LargeData),
        intraprocess: INTRAPROCESS.iter().position(|&name| name == level).unwrap_or(0) as i32,
        send_buffer_bytes: options.integer("socket_send_buffer_bytes") as u32,
        receive_buffer_bytes: options.integer("socket_receive_buffer_bytes") as u32,
        max_message_bytes: options.integer("max_message_size_bytes") as u32,
        segment_bytes: options.integer("shm_segment_bytes") as u32,
        port_queue: options.integer("shm_port_queue") as u32,
        properties: properties.as_ptr(),
        property_count: properties.len(),
    };
    let opened = opened(
        &format!("open domain {} on {}", rendezvous.domain, discovery.own[0].address),
        // SAFETY: the transports with their strings and places live through the call.
        |session, reason| unsafe { shim::mm_open(&raw const transports, session, reason) },
    );
    Ok(opened?)
}

impl Session for Participant {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        self.reader(channel, self.loans(channel), Taker::Subscriber(receiver))
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let loans = self.loans(channel);
        let writer = Box::new(self.writer(channel, loans, Some(matched))?);
        Ok(if loans {
            Publisher::InPlace(writer)
        } else {
            Publisher::Copying(writer)
        })
    }

    fn server(&mut self, exchange: &Exchange<'_>, server: Server) -> Result<(), MiddlewareError> {
        let [requests, responses] = exchange::channels(exchange);
        let writer = self.writer(&responses, false, None)?;
        let serving = Serving::new(server, Box::new(writer), &responses);
        self.reader(&requests, false, Taker::Server(serving))
    }

    fn client(
        &mut self,
        exchange: &Exchange<'_>,
        responses: Receiver,
        found: Matched,
    ) -> Result<Publisher, MiddlewareError> {
        let [requests, answers] = exchange::channels(exchange);
        let writer = self.writer(&requests, false, Some(found))?;
        let guid = writer.guid()?;
        self.reader(&answers, false, Taker::Client(Awaiting { guid, responses }))?;
        Ok(exchange::requests(Box::new(writer), guid, &requests))
    }

    fn effective(&self) -> Effective {
        let mut settings: BTreeMap<_, _> = self.options.words();
        dds_security::state(self.security, &mut settings);
        for (topic, reader) in &self.readers {
            settings.insert(format!("reader {topic}"), reader::policies(reader));
        }
        for (topic, writer) in &self.writers {
            settings.insert(format!("writer {topic}"), writer_policies(*writer));
        }
        Effective {
            transport: self.transport.words(self.transport.needs_plain_type(self.lends)).into(),
            paths: self.paths.clone(),
            delivery: self.delivery,
            receive_mode: wait_set::how(self.delivery, self.wait_set.as_ref()).into(),
            zero_copy: self.lends,
            security: self.security,
            settings,
        }
    }

    fn counterparts(&self) -> Vec<String> {
        let words =
            |role, topic: &String, met: &Counterparts| met.words(role, topic, &self.types[topic].to_string_lossy());
        let writers = self.writers.iter().map(|(topic, writer)| {
            // SAFETY: writers live as long as their session, and the counterparts can be written.
            let read = |found| unsafe { shim::mm_writer_counterparts(*writer, found) };
            read_back(read, |met| words(Role::Publisher, topic, met))
        });
        let readers = self.readers.iter().map(|(topic, reader)| {
            // SAFETY: a shim's reader is open as long as its `Reader`, and the counterparts can be written.
            let read = |found| unsafe { shim::mm_reader_counterparts(reader.shim(), found) };
            read_back(read, |met| words(Role::Subscriber, topic, met))
        });
        writers.chain(readers).collect()
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        let waited = self.wait_set.map_or(Ok(()), WaitSet::close);
        let ended: Vec<_> = self.readers.into_iter().map(|(_, reader)| reader.close()).collect();
        // SAFETY: the session is open, its readers are closed and nobody publishes any more.
        checked(unsafe { shim::mm_close(self.handle) }, "delete the participant")?;
        waited?;
        ended.into_iter().collect()
    }
}

/// The policies that a writer really has.
fn writer_policies(writer: *mut ShimWriter) -> String {
    // SAFETY: writers live as long as their session, and the policies can be written.
    read_back(
        |found| unsafe { shim::mm_writer_qos(writer, found) },
        quality::writer_words,
    )
}
