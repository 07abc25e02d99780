//! What an application speaks with its broker: MQTT 3.1.1, or MQTT 5 where it asks or answers, as only that has response
//! topics.
//!
//! rumqttc has a client and an event loop for each; they look alike from here on. Its blocking client is the same two and a
//! runtime, but its calls wait without an end. Nothing is published or received here: `publisher` and `link` do that.

mod v311;
mod v5;
mod within;

use std::error::Error;
use std::io;
use std::time::Duration;

use rumqttc::QoS;
use tokio::runtime::{Builder, Runtime};

use self::within::within;

/// A message on its way to the client's queue.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    pub(crate) topic: String,
    pub(crate) level: QoS,
    pub(crate) retain: bool,
    pub(crate) payload: Vec<u8>,
    /// What makes a request or a response of it.
    pub(crate) properties: Properties,
}

/// MQTT 5's properties of requests and responses, section 4.10.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Properties {
    /// Where the response is to go.
    pub(crate) response_topic: Option<String>,
    /// What tells which request it belongs to.
    pub(crate) correlation_data: Option<Vec<u8>>,
}

/// What the connection has seen.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives for one turn; a box would be allocated before the receive stamp"
)]
pub(crate) enum Event {
    /// The broker accepted it.
    Connected,
    /// The broker answered a subscription; whether it granted it.
    Subscribed(bool),
    /// A message has come.
    Message(Delivered),
    /// It was closed from here.
    Closed,
    Other,
}

/// A message that has come, as each protocol's packet has it.
pub(crate) enum Delivered {
    V311(rumqttc::Publish),
    V5(rumqttc::v5::mqttbytes::v5::Publish),
}

impl Delivered {
    /// Not text is no topic of anybody.
    #[inline]
    pub(crate) fn topic(&self) -> &str {
        match self {
            Delivered::V311(packet) => &packet.topic,
            Delivered::V5(packet) => std::str::from_utf8(&packet.topic).unwrap_or_default(),
        }
    }

    #[inline]
    pub(crate) fn payload(&self) -> &[u8] {
        match self {
            Delivered::V311(packet) => &packet.payload,
            Delivered::V5(packet) => &packet.payload,
        }
    }

    /// Where it wants its response to go.
    pub(crate) fn response_topic(&self) -> Option<&str> {
        match self {
            Delivered::V311(_) => None,
            Delivered::V5(packet) => packet.properties.as_ref()?.response_topic.as_deref(),
        }
    }

    /// Which request it belongs to, by its client's own count.
    pub(crate) fn correlation_data(&self) -> Option<&[u8]> {
        match self {
            Delivered::V311(_) => None,
            Delivered::V5(packet) => packet.properties.as_ref()?.correlation_data.as_deref(),
        }
    }
}

/// Where to connect to, and how.
pub(crate) enum Options {
    V311(Box<rumqttc::MqttOptions>, rumqttc::NetworkOptions),
    V5(Box<rumqttc::v5::MqttOptions>),
}

/// What puts messages into the connection's queue. Cheap to clone.
#[derive(Clone)]
pub(crate) enum Client {
    V311(rumqttc::AsyncClient),
    V5(rumqttc::v5::AsyncClient),
}

/// The event loop with the runtime that drives it: one thread's, which does nothing else.
pub(crate) struct Connection {
    eventloop: EventLoop,
    runtime: Runtime,
}

enum EventLoop {
    V311(Box<rumqttc::EventLoop>),
    V5(Box<rumqttc::v5::EventLoop>),
}

/// Why a connection is lost, or never came to be.
pub(crate) type ConnectionError = Box<dyn Error + Send + Sync>;

/// The connection's thread has ended.
#[derive(Debug)]
pub(crate) struct Ended;

/// A client and its connection, which is made when it is first asked for an event.
pub(crate) fn open(options: Options, queue_messages: usize) -> io::Result<(Client, Connection)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (client, eventloop) = match options {
        Options::V311(options, network) => {
            let (client, mut eventloop) = rumqttc::AsyncClient::new(*options, queue_messages);
            eventloop.set_network_options(network);
            (Client::V311(client), EventLoop::V311(Box::new(eventloop)))
        }
        Options::V5(options) => {
            let (client, eventloop) = rumqttc::v5::AsyncClient::new(*options, queue_messages);
            (Client::V5(client), EventLoop::V5(Box::new(eventloop)))
        }
    };
    Ok((client, Connection { eventloop, runtime }))
}

impl Client {
    /// Puts a message into the queue; gives it back where there is no room.
    #[inline]
    pub(crate) fn try_publish(&self, message: Message) -> Option<Message> {
        match self {
            Client::V311(client) => v311::try_publish(client, message),
            Client::V5(client) => v5::try_publish(client, message),
        }
    }

    /// The same, but waits for room; none where there was none within `patience`.
    pub(crate) fn publish_within(&self, patience: Duration, message: Message) -> Option<Result<(), Ended>> {
        let done = match self {
            Client::V311(client) => within(patience, v311::publish(client, message)),
            Client::V5(client) => within(patience, v5::publish(client, message)),
        };
        done.map(|sent| sent.ok_or(Ended))
    }

    pub(crate) fn subscribe_within(&self, patience: Duration, topic: &str, level: QoS) -> Option<Result<(), Ended>> {
        let done = match self {
            Client::V311(client) => within(patience, async { client.subscribe(topic, level).await.ok() }),
            Client::V5(client) => within(patience, async { client.subscribe(topic, v5::level(level)).await.ok() }),
        };
        done.map(|asked| asked.ok_or(Ended))
    }

    /// Asks for the connection's end, as far as there is one.
    pub(crate) fn disconnect_within(&self, patience: Duration) {
        // Fails only where the connection is lost, and then its thread ends as it is not to be made again.
        let _ = match self {
            Client::V311(client) => within(patience, async { client.disconnect().await.ok() }),
            Client::V5(client) => within(patience, async { client.disconnect().await.ok() }),
        };
    }
}

impl Connection {
    /// The next event; none once no client is left.
    pub(crate) fn next(&mut self) -> Option<Result<Event, ConnectionError>> {
        match &mut self.eventloop {
            EventLoop::V311(eventloop) => match self.runtime.block_on(eventloop.poll()) {
                Ok(event) => Some(Ok(v311::event(event))),
                Err(rumqttc::ConnectionError::RequestsDone) => None,
                Err(error) => Some(Err(error.into())),
            },
            EventLoop::V5(eventloop) => match self.runtime.block_on(eventloop.poll()) {
                Ok(event) => Some(Ok(v5::event(event))),
                Err(rumqttc::v5::ConnectionError::RequestsDone) => None,
                Err(error) => Some(Err(error.into())),
            },
        }
    }

    /// Subscribes to all of these before anything that the client's queue holds.
    pub(crate) fn subscribe_first<'t>(&mut self, topics: impl Iterator<Item = (&'t String, QoS)>) {
        match &mut self.eventloop {
            EventLoop::V311(eventloop) => eventloop.pending.push_front(v311::subscription(topics)),
            EventLoop::V5(eventloop) => eventloop.pending.push_front(v5::subscription(topics)),
        }
    }

    /// Keeps what the client's queue holds for the next connection, where it makes room.
    pub(crate) fn clean(&mut self) {
        match &mut self.eventloop {
            EventLoop::V311(eventloop) => eventloop.clean(),
            EventLoop::V5(eventloop) => eventloop.clean(),
        }
    }
}

#[cfg(test)]
mod tests;
