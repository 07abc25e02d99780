//! One application's session: one client, one connection to the broker, one thread that polls it.
//!
//! It is open when the broker has accepted the connection, and a subscriber is there when the broker has granted the
//! subscription; `link` moves the messages.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use middlemark_contract::Effective;
use middlemark_runtime::{Channel, Context, MiddlewareError, Options, Publisher, Receiver, Session};
use rumqttc::{Client, MqttOptions, NetworkOptions, Transport};

use crate::link::{Link, Note};
use crate::publisher::TopicPublisher;
use crate::{configuration, level};

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
    /// The connection's thread has ended.
    #[error("{waiting_for}: the connection's thread has ended")]
    Ended {
        /// What was waited for.
        waiting_for: &'static str,
    },
}

/// A connected client.
pub(crate) struct Connected {
    client: Client,
    link: Arc<Link>,
    notes: mpsc::Receiver<Note>,
    thread: JoinHandle<()>,
    retain: bool,
    transport: String,
    settings: BTreeMap<String, String>,
}

impl Connected {
    /// Connects to the broker of this application's host, else to the first.
    pub(crate) fn open(context: &Context<'_>) -> Result<Connected, SessionError> {
        let packet_bytes = largest_packet_bytes(context.channels);
        let (client, mut connection) = Client::new(
            client_options(context, packet_bytes),
            context.options.integer("client_queue_messages") as usize,
        );
        let mut network = NetworkOptions::new();
        network.set_tcp_nodelay(context.options.boolean("client_tcp_nodelay"));
        connection.eventloop.set_network_options(network);
        let link = Arc::new(Link::default());
        let (sender, notes) = channel();
        let (running, own) = (Arc::clone(&link), client.clone());
        let retry = Duration::from_millis(context.options.integer("client_retry_ms") as u64);
        let thread = thread::spawn(move || running.run(connection, &own, &sender, retry));
        let session = Connected {
            client,
            link,
            notes,
            thread,
            retain: context.options.boolean("retain"),
            transport: context.options.text("transport").to_owned(),
            settings: settings(context.options, context.channels, packet_bytes),
        };
        match session.wait("the connection's acknowledgement")? {
            Note::Connected => Ok(session),
            _ => Err(SessionError::Refused {
                waiting_for: "the connection's acknowledgement",
            }),
        }
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
        self.client
            .subscribe(&channel.topic, level::of(&channel.qos))
            .map_err(|_| SessionError::Ended { waiting_for })?;
        match self.wait(waiting_for)? {
            Note::Subscribed(true) => Ok(()),
            _ => Err(SessionError::Refused { waiting_for }.into()),
        }
    }

    fn publisher(&mut self, channel: &Channel) -> Result<Publisher, MiddlewareError> {
        Ok(Publisher::InPlace(Box::new(TopicPublisher {
            client: self.client.clone(),
            link: Arc::clone(&self.link),
            topic: channel.topic.clone(),
            level: level::of(&channel.qos),
            retain: self.retain,
            congestion: channel.qos.congestion,
        })))
    }

    fn effective(&self) -> Effective {
        Effective {
            transport: match self.transport.as_str() {
                "unix" => "Unix socket through the broker".into(),
                _ => "tcp through the broker".into(),
            },
            receive_mode: "the connection's own thread".into(),
            zero_copy: false,
            settings: self.settings.clone(),
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        self.link.close();
        self.thread.thread().unpark();
        // Fails only where the connection is lost, and then its thread ends as it is not to be made again.
        let _ = self.client.disconnect();
        self.thread
            .join()
            .map_err(|_| MiddlewareError::from("the connection's thread panicked"))
    }
}

fn client_options(context: &Context<'_>, packet_bytes: usize) -> MqttOptions {
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
    options.set_max_packet_size(packet_bytes, packet_bytes);
    options.set_inflight(context.options.integer("client_inflight_messages") as u16);
    options
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

fn settings(options: &Options, channels: &[Channel], packet_bytes: usize) -> BTreeMap<String, String> {
    let mut settings = options.words();
    settings.insert("protocol".into(), "MQTT 3.1.1".into());
    settings.insert("client_max_packet_bytes".into(), packet_bytes.to_string());
    settings.insert("client_clean_session".into(), "true".into());
    settings.insert("connections".into(), "one for each application".into());
    settings.insert(
        "publish".into(),
        "buffer moved to the client, copied once into its send buffer".into(),
    );
    for channel in channels {
        let level = level::of(&channel.qos) as u8;
        settings.insert(format!("level of {}", channel.topic), level.to_string());
    }
    settings
}
