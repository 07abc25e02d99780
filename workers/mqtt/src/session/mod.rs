//! One application's session: one client, one connection to the broker, one thread that polls it.
//!
//! It is open when the broker has accepted the connection, and complete when the broker has granted all subscriptions; `link`
//! moves the messages.

mod options;
mod send_buffer;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use middlemark_contract::{Delivery, Effective, MessagePath, SecurityLevel};
use middlemark_runtime::{Channel, Context, Exchange, Matched, MiddlewareError, Publisher, Receiver, Server, Session};
use rumqttc::QoS;

use crate::exchange::{Asking, Awaiting, Serving, requests_topic, responses_topic};
use crate::link::{Link, Note, Taker};
use crate::protocol::{Client, ConnectionError};
use crate::publisher::TopicPublisher;
use crate::{description, level, protocol};

/// How long the broker may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why there is no session, or no subscription.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    /// The connection could not be made or was lost.
    #[error("{waiting_for}: the connection to the broker is lost")]
    Broken {
        /// What was waited for.
        waiting_for: &'static str,
        /// What the client reported.
        source: ConnectionError,
    },
    /// What it was given to prove itself with is not whole.
    #[error("reading the credentials")]
    Credentials(#[source] MiddlewareError),
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

/// How the connection came to be.
#[derive(Debug, Clone, Copy, Default)]
struct Joining {
    /// When it began to be made.
    began_ns: i64,
    /// When the broker accepted it.
    accepted_ns: i64,
}

/// A connected client.
pub(crate) struct Connected {
    client: Client,
    link: Arc<Link>,
    notes: mpsc::Receiver<Note>,
    joining: Joining,
    /// Subscriptions that the broker has yet to grant.
    ungranted: usize,
    thread: JoinHandle<()>,
    retain: bool,
    transport: String,
    security: Option<SecurityLevel>,
    settings: BTreeMap<String, String>,
}

impl Connected {
    /// Connects to the broker of this application's host, else to the first.
    pub(crate) fn open(context: &Context<'_>) -> Result<Connected, SessionError> {
        let queue_messages = options::queue_messages(context);
        let (client, connection) = protocol::open(options::of_client(context)?, queue_messages)?;
        let link = Arc::new(Link::default());
        let (sender, notes) = channel();
        let (running, own) = (Arc::clone(&link), client.clone());
        let retry = Duration::from_millis(context.options.integer("client_retry_ms") as u64);
        let thread = thread::spawn(move || running.run(connection, &own, &sender, retry));
        let mut session = Connected {
            client,
            link,
            notes,
            joining: Joining::default(),
            ungranted: 0,
            thread,
            retain: context.options.boolean("retain"),
            transport: context.options.text("transport").to_owned(),
            security: context.spec.security.as_ref().map(|security| security.level),
            settings: options::in_force(context),
        };
        match session.wait_connected() {
            Ok(joining) => {
                session.joining = joining;
                Ok(session)
            }
            Err(error) => {
                let _ = session.end(); // what it failed with is told already
                Err(error)
            }
        }
    }

    fn wait_connected(&self) -> Result<Joining, SessionError> {
        let waiting_for = "the connection's acknowledgement";
        match self.wait(waiting_for)? {
            Note::Connected { since_ns, began_ns } => Ok(Joining {
                began_ns,
                accepted_ns: since_ns,
            }),
            _ => Err(SessionError::Refused { waiting_for }),
        }
    }

    /// Tells that a publisher has found its broker: with security after a handshake, which is the broker's answer to
    /// CONNECT with a password in it, or TLS before that.
    fn matches(&self, publisher: &Matched) {
        let Joining { began_ns, accepted_ns } = self.joining;
        match self.security {
            None => publisher.at(accepted_ns),
            Some(_) => publisher.at_after_handshake(began_ns, accepted_ns),
        }
    }

    /// Closes the connection and waits for its thread.
    fn end(self) -> Result<(), MiddlewareError> {
        self.link.close();
        self.thread.thread().unpark();
        self.client.disconnect_within(PATIENCE);
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

    /// Has `taker` get what comes to a topic. The next subscription does not wait until the broker has granted this one.
    fn subscribe(&mut self, topic: &str, level: QoS, taker: Taker) -> Result<(), SessionError> {
        let waiting_for = "room for a subscription";
        if !self.link.add(topic, level, taker) {
            return Ok(()); // the broker delivers a topic once to each connection
        }
        self.client
            .subscribe_within(PATIENCE, topic, level)
            .ok_or(SessionError::Silent { waiting_for })?
            .map_err(|_| SessionError::Ended { waiting_for })?;
        self.ungranted += 1;
        Ok(())
    }

    /// Waits until the broker has granted all subscriptions.
    fn wait_granted(&mut self) -> Result<(), SessionError> {
        let waiting_for = "the subscriptions' acknowledgements";
        while self.ungranted > 0 {
            match self.wait(waiting_for)? {
                Note::Subscribed(true) => self.ungranted -= 1,
                _ => return Err(SessionError::Refused { waiting_for }),
            }
        }
        Ok(())
    }

    /// What publishes to a topic, with the channel's QoS.
    fn publishes(&self, channel: &Channel, topic: String, retain: bool, asking: Option<Asking>) -> Publisher {
        Publisher::Moving(Box::new(TopicPublisher {
            client: self.client.clone(),
            link: Arc::clone(&self.link),
            topic,
            level: level::of(&channel.qos),
            retain,
            patience: channel
                .qos
                .blocks()
                .then(|| Duration::from_nanos(channel.qos.patience_ns)),
            asking,
        }))
    }
}

impl Session for Connected {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        let taker = Taker::Subscriber(receiver);
        Ok(self.subscribe(&channel.topic, level::of(&channel.qos), taker)?)
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        self.matches(&matched);
        Ok(self.publishes(channel, channel.topic.clone(), self.retain, None))
    }

    fn server(&mut self, exchange: &Exchange<'_>, server: Server) -> Result<(), MiddlewareError> {
        let topic = requests_topic(&exchange.requests.topic, exchange.server);
        let serving = Serving {
            server,
            level: level::of(&exchange.responses.qos),
        };
        let how = "responds to the topic that a request names, with its correlation data, from the connection's thread";
        self.settings.insert(format!("server {topic}"), how.into());
        Ok(self.subscribe(&topic, level::of(&exchange.requests.qos), Taker::Server(serving))?)
    }

    fn client(
        &mut self,
        exchange: &Exchange<'_>,
        responses: Receiver,
        found: Matched,
    ) -> Result<Publisher, MiddlewareError> {
        let response_topic = responses_topic(&exchange.responses.topic, exchange.requests.index);
        let asking = Asking::new(&response_topic);
        let awaiting = Awaiting {
            asking: asking.clone(),
            responses,
        };
        self.subscribe(
            &response_topic,
            level::of(&exchange.responses.qos),
            Taker::Client(awaiting),
        )?;
        self.matches(&found);
        let topic = requests_topic(&exchange.requests.topic, exchange.server);
        let how = format!("response topic {response_topic}, correlation data of 8 bytes");
        self.settings.insert(format!("client of {topic}"), how);
        // A request that the broker keeps would be answered again by a server that comes again.
        Ok(self.publishes(exchange.requests, topic, false, Some(asking)))
    }

    fn complete(&mut self) -> Result<(), MiddlewareError> {
        Ok(self.wait_granted()?)
    }

    fn effective(&self) -> Effective {
        Effective {
            transport: match (self.transport.as_str(), self.security) {
                ("unix", _) => "Unix socket through the broker".into(),
                (_, Some(SecurityLevel::Encrypted)) => "tcp with TLS through the broker".into(),
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
