//! One application's session: one client, one connection to the broker, one thread that polls it.
//!
//! It is open when the broker has accepted the connection, and a subscriber is there when the broker has granted the
//! subscription; `link` moves the messages.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use middlemark_contract::{Congestion, Delivery, Effective, MessagePath, SecurityLevel};
use middlemark_runtime::{Channel, Context, Matched, MiddlewareError, Publisher, Receiver, Session};
use rumqttc::{AsyncClient, MqttOptions, NetworkOptions, Transport};

use crate::client::within;
use crate::link::{Link, Note};
use crate::publisher::TopicPublisher;
use crate::{client, configuration, credentials, description, level, send_buffer};

/// How long the broker may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Fixed header, remaining length, topic's length and packet identifier: at most so much beside topic and message.
const PACKET_OVERHEAD_BYTES: usize = 16;

/// Why there is no session, or no subscription.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    /// The connection could not be made or was lost.
    #[error("{waiting_for}: the connection to the broker is lost")]
    Broken {
        /// What was waited for.
        waiting_for: &'static str,
        /// What the client reported.
        source: Box<rumqttc::ConnectionError>,
    },
    /// It was given no password.
    #[error("{0}")]
    Credentials(String),
    /// The broker said nothing.
    #[error("the broker did not answer within {} s: waited for {waiting_for}", PATIENCE.as_secs())]
    Silent {
        /// What was waited for.
        waiting_for: &'static str,
    },
    /// The broker answered something else, or no.
    #[error("waited for {waiting_for}, but the broker refused")]
    Refused {
        /// What was waited for.
        waiting_for: &'static str,
    },
    /// The operating system has no room for a connection.
    #[error("opening the client")]
    System(#[from] std::io::Error),
    /// The connection's thread has ended.
    #[error("{waiting_for}: the connection's thread has ended")]
    Ended {
        /// What was waited for.
        waiting_for: &'static str,
    },
}

/// A connected client.
pub(crate) struct Connected {
    client: AsyncClient,
    link: Arc<Link>,
    notes: mpsc::Receiver<Note>,
    /// When the broker accepted the connection.
    accepted_ns: i64,
    thread: JoinHandle<()>,
    retain: bool,
    transport: String,
    security: Option<SecurityLevel>,
    settings: BTreeMap<String, String>,
}

impl Connected {
    /// Connects to the broker of this application's host, else to the first.
    pub(crate) fn open(context: &Context<'_>) -> Result<Connected, SessionError> {
        let packet_bytes = largest_packet_bytes(context.channels);
        let mut network = NetworkOptions::new();
        network.set_tcp_nodelay(context.options.boolean("client_tcp_nodelay"));
        if let Some(bytes) = send_buffer_bytes(context) {
            network.set_tcp_send_buffer_size(bytes);
        }
        let queue_messages = at_most_queued(context, "client_queue_messages");
        let (client, connection) = client::open(client_options(context, packet_bytes)?, network, queue_messages)?;
        let link = Arc::new(Link::default());
        let (sender, notes) = channel();
        let (running, own) = (Arc::clone(&link), client.clone());
        let retry = Duration::from_millis(context.options.integer("client_retry_ms") as u64);
        let thread = thread::spawn(move || running.run(connection, &own, &sender, retry));
        let mut session = Connected {
            client,
            link,
            notes,
            accepted_ns: 0,
            thread,
            retain: context.options.boolean("retain"),
            transport: context.options.text("transport").to_owned(),
            security: context.spec.security.as_ref().map(|security| security.level),
            settings: settings(context, packet_bytes),
        };
        match session.wait_connected() {
            Ok(accepted_ns) => {
                session.accepted_ns = accepted_ns;
                Ok(session)
            }
            Err(error) => {
                let _ = session.end(); // what it failed with is told already
                Err(error)
            }
        }
    }

    fn wait_connected(&self) -> Result<i64, SessionError> {
        let waiting_for = "the connection's acknowledgement";
        match self.wait(waiting_for)? {
            Note::Connected(since_ns) => Ok(since_ns),
            _ => Err(SessionError::Refused { waiting_for }),
        }
    }

    /// Closes the connection and waits for its thread.
    fn end(self) -> Result<(), MiddlewareError> {
        self.link.close();
        self.thread.thread().unpark();
        // Fails only where the connection is lost, and then its thread ends as it is not to be made again.
        let _ = within(PATIENCE, self.client.disconnect());
        self.thread
            .join()
            .map_err(|_| MiddlewareError::from("the connection's thread panicked"))
    }

    fn wait(&self, waiting_for: &'static str) -> Result<Note, SessionError> {
        match self.notes.recv_timeout(PATIENCE) {
            Ok(Note::Broken(source)) => Err(SessionError::Broken { waiting_for, source }),
            Ok(note) => Ok(note),
            Err(RecvTimeoutError::Timeout) => Err(SessionError::Silent { waiting_for }),
            Err(RecvTimeoutError::Disconnected) => Err(SessionError::Ended { waiting_for }),
        }
    }
}

impl Session for Connected {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        let waiting_for = "the subscription's acknowledgement";
        if !self.link.add(&channel.topic, level::of(&channel.qos), receiver) {
            return Ok(()); // the broker delivers a topic once to each connection
        }
        within(PATIENCE, self.client.subscribe(&channel.topic, level::of(&channel.qos)))
            .ok_or(SessionError::Silent { waiting_for })?
            .map_err(|_| SessionError::Ended { waiting_for })?;
        match self.wait(waiting_for)? {
            Note::Subscribed(true) => Ok(()),
            _ => Err(SessionError::Refused { waiting_for }.into()),
        }
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        matched.at(self.accepted_ns);
        Ok(Publisher::Moving(Box::new(TopicPublisher {
            client: self.client.clone(),
            link: Arc::clone(&self.link),
            topic: channel.topic.clone(),
            level: level::of(&channel.qos),
            retain: self.retain,
            patience: channel
                .qos
                .blocks()
                .then(|| Duration::from_nanos(channel.qos.patience_ns)),
        })))
    }

    fn effective(&self) -> Effective {
        Effective {
            transport: match self.transport.as_str() {
                "unix" => "Unix socket through the broker".into(),
                _ => "tcp through the broker".into(),
            },
            paths: vec![match self.transport.as_str() {
                "unix" => MessagePath::LocalSocket,
                _ => MessagePath::Network,
            }],
            delivery: Delivery::OwnThread,
            receive_mode: description::deliveries()
                .how(Delivery::OwnThread)
                .unwrap_or_default()
                .into(),
            zero_copy: false,
            security: self.security,
            settings: self.settings.clone(),
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        self.end()
    }
}

fn client_options(context: &Context<'_>, packet_bytes: usize) -> Result<MqttOptions, SessionError> {
    let rendezvous = &context.spec.rendezvous;
    let (address, index) = configuration::index_for(context.spec).expect("accepted: there is a broker");
    let name = format!("{}_{}", rendezvous.name, context.spec.application);
    let mut options = match context.options.text("transport") {
        "unix" => {
            let path = configuration::socket(rendezvous, index);
            let mut options = MqttOptions::new(name, path.to_string_lossy(), 0);
            options.set_transport(Transport::unix());
            options
        }
        _ => MqttOptions::new(name, host(address), configuration::port(rendezvous, index)),
    };
    if let Some(password) = password(context)? {
        options.set_credentials(&context.spec.application, password);
    }
    options.set_max_packet_size(packet_bytes, packet_bytes);
    options.set_inflight(at_most_queued(context, "client_inflight_messages") as u16);
    Ok(options)
}

/// What it proves with who it is; none where the broker is open to all.
fn password<'a>(context: &Context<'a>) -> Result<Option<&'a str>, SessionError> {
    let given = context.spec.security.as_ref().map(credentials::password).transpose();
    given.map_err(SessionError::Credentials)
}

/// What an option says that is counted in messages, but no more than any stream lets be queued.
fn at_most_queued(context: &Context<'_>, option: &str) -> usize {
    let queued = context.channels.iter().map(Channel::queued_messages).min();
    (context.options.integer(option) as usize).min(queued.unwrap_or(usize::MAX))
}

/// Room in the kernel, where it is not the kernel that sizes it; rumqttc sets it for TCP alone.
fn send_buffer_bytes(context: &Context<'_>) -> Option<u32> {
    let asked_bytes = context.options.integer("client_send_buffer_bytes") as u64;
    let is_tcp = context.options.text("transport") == "tcp";
    is_tcp
        .then(|| send_buffer::bytes(asked_bytes, context.channels))
        .flatten()
}

/// The client joins host and port by a colon and has them looked up.
fn host(address: std::net::IpAddr) -> String {
    match address {
        std::net::IpAddr::V4(address) => address.to_string(),
        std::net::IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// The client's limit, 10 KiB as shipped, refuses larger messages: it is raised to what the trial's streams need.
fn largest_packet_bytes(channels: &[Channel]) -> usize {
    let largest = channels
        .iter()
        .map(|channel| channel.size_bytes + channel.topic.len() + PACKET_OVERHEAD_BYTES)
        .max();
    largest.unwrap_or_default().max(10 * 1024)
}

fn settings(context: &Context<'_>, packet_bytes: usize) -> BTreeMap<String, String> {
    let mut settings = context.options.words();
    for option in ["client_queue_messages", "client_inflight_messages"] {
        settings.insert(option.into(), at_most_queued(context, option).to_string());
    }
    let send_buffer = send_buffer_bytes(context).map_or("as the kernel sizes it".into(), |bytes| bytes.to_string());
    settings.insert("client_send_buffer_bytes".into(), send_buffer);
    settings.insert("protocol".into(), "MQTT 3.1.1".into());
    settings.insert("client_max_packet_bytes".into(), packet_bytes.to_string());
    settings.insert("client_clean_session".into(), "true".into());
    settings.insert("connections".into(), "one for each application".into());
    settings.insert(
        "publish".into(),
        "buffer moved to the client, copied once into its send buffer".into(),
    );
    for channel in context.channels {
        let level = level::of(&channel.qos) as u8;
        settings.insert(format!("level of {}", channel.topic), level.to_string());
        let waits = match channel.qos.congestion {
            Congestion::Block => format!(
                "the publish call waits {} ms for the client's queue; the broker queues all that comes",
                channel.qos.patience_ns / 1_000_000
            ),
            Congestion::Drop => "the publish call does not wait; the broker drops beyond max_queued_bytes".into(),
        };
        settings.insert(format!("queue of {}", channel.topic), waits);
    }
    settings
}
