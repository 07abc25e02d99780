//! A session: one participant in the trial's domain, with its writers and readers.
//!
//! `configuration` says how the library is configured, `reader` and `writer` carry messages.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::net::UdpSocket;
use std::os::unix::ffi::OsStrExt;
use std::{fs, process};

use middlemark_contract::{Delivery, Effective, MessagePath, Reach};
use middlemark_dds::{Matches, Policies, Reader, checked, opened};
use middlemark_runtime::{Channel, Context, Matched, MiddlewareError, Publisher, Receiver, Session};

use crate::configuration;
use crate::reader;
use crate::shim::{self, ShimSession, UNLIMITED};
use crate::writer::{self, Writer};

pub(crate) struct Participant {
    handle: *mut ShimSession,
    delivery: Delivery,
    transport: String,
    paths: Vec<MessagePath>,
    settings: BTreeMap<String, String>,
    readers: Vec<(String, Reader)>,
    writers: Vec<(String, Writer)>,
    matches: Matches,
}

impl Participant {
    pub(crate) fn open(context: &Context<'_>) -> Result<Participant, MiddlewareError> {
        let spec = context.spec;
        // Where it can't have its address the library would try one port after the other, for ever.
        UdpSocket::bind((spec.address, 0)).map_err(|error| format!("no socket on {}: {error}", spec.address))?;
        let configuration = configuration::render(spec, context.options);
        let mut settings = context.options.words();
        settings.insert("configuration".into(), configuration.replace('\n', "; "));
        Ok(Participant {
            handle: open(&configuration, context)?,
            delivery: spec.delivery,
            transport: context.options.text("transport").to_owned(),
            paths: paths(spec.reach()),
            settings,
            readers: Vec::new(),
            writers: Vec::new(),
            matches: Matches::default(),
        })
    }
}

/// The network; and a call where a peer is in the application, as it was not tried which of the two the library takes there.
fn paths(reach: Reach) -> Vec<MessagePath> {
    let network = reach.paths(MessagePath::Network, MessagePath::Network);
    let direct = reach.within_application.then_some(MessagePath::Process);
    network.into_iter().chain(direct).collect()
}

/// Opens the domain as configured. The library reads a file, and reads it once.
fn open(configuration: &str, context: &Context<'_>) -> Result<*mut ShimSession, MiddlewareError> {
    let rendezvous = &context.spec.rendezvous;
    let file = rendezvous.folder.join(format!("opendds-{}.ini", process::id()));
    fs::write(&file, configuration)?;
    let path = CString::new(file.as_os_str().as_bytes())?;
    let result = opened(
        &format!("open domain {} on {}", rendezvous.domain, context.spec.address),
        // SAFETY: the path lives through the call.
        |session, reason| unsafe { shim::mm_open(i32::from(rendezvous.domain), path.as_ptr(), session, reason) },
    );
    fs::remove_file(&file)?;
    Ok(result?)
}

/// A reader rejects what is beyond its limit, which then is lost although its writer was told that it had arrived.
fn reader_policies(policies: Policies) -> Policies {
    let max_samples = if policies.reliable == 1 {
        UNLIMITED
    } else {
        policies.max_samples
    };
    Policies {
        max_samples,
        ..policies
    }
}

impl Session for Participant {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        let topic = CString::new(channel.topic.as_str())?;
        let policies = reader_policies(Policies::of(channel.qos, channel.size_bytes, UNLIMITED));
        // SAFETY: the session closes its readers before itself.
        let reader = unsafe { reader::open(self.handle, &topic, &policies, self.delivery, receiver)? };
        self.readers.push((channel.topic.clone(), reader));
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let topic = CString::new(channel.topic.as_str())?;
        let policies = Policies::of(channel.qos, channel.size_bytes, UNLIMITED);
        let matching = self.matches.keep(matched);
        // SAFETY: the session closes its writers before itself, and its matches after that.
        let writer = unsafe { Writer::open(self.handle, &topic, &policies, matching)? };
        self.writers.push((channel.topic.clone(), writer));
        Ok(Publisher::Copying(Box::new(writer.publisher(channel.qos.congestion))))
    }

    fn effective(&self) -> Effective {
        let mut settings = self.settings.clone();
        for (topic, reader) in &self.readers {
            settings.insert(format!("reader {topic}"), reader::policies(reader));
        }
        for (topic, writer) in &self.writers {
            settings.insert(format!("writer {topic}"), writer.policies());
        }
        Effective {
            transport: self.transport.clone(),
            paths: self.paths.clone(),
            delivery: self.delivery,
            receive_mode: middlemark_dds::how(self.delivery).into(),
            zero_copy: false,
            security: None,
            settings,
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        let mut ended: Vec<_> = self.readers.into_iter().map(|(_, reader)| reader.close()).collect();
        let writers: Vec<_> = self.writers.into_iter().map(|(_, writer)| writer).collect();
        // SAFETY: publishers are dropped before their session is closed.
        ended.push(unsafe { writer::close_all(&writers) });
        // SAFETY: the session is open, its readers are closed and nobody publishes any more.
        checked(unsafe { shim::mm_close(self.handle) }, "delete the participant")?;
        ended.into_iter().collect()
    }
}
