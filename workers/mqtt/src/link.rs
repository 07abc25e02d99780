//! What the connection's thread and the publishers share: who subscribes to which topic, and answers that have to wait.
//!
//! The thread polls rumqttc's event loop, which alone reads and writes the socket; it must never wait for itself, so what
//! is published from it is kept until the client's queue has room again.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError, RwLock};

use middlemark_runtime::Inlet;
use rumqttc::{Client, ConnectionError, Event, Outgoing, Packet, Publish, QoS, Request, SubscribeReasonCode};

thread_local! {
    static IS_LINK: Cell<bool> = const { Cell::new(false) };
}

/// What the connection's thread tells the session.
#[derive(Debug)]
pub(crate) enum Note {
    /// The broker accepted the connection.
    Connected,
    /// The broker answered a subscription; whether it granted it.
    Subscribed(bool),
    /// The connection is lost, or never came to be.
    Broken(Box<ConnectionError>),
}

/// The state of one connection.
#[derive(Default)]
pub(crate) struct Link {
    inlets: RwLock<HashMap<String, Vec<Inlet>>>,
    waiting: Mutex<VecDeque<Message>>,
    broken: AtomicBool,
    closing: AtomicBool,
}

/// A message on its way to the client's queue.
pub(crate) struct Message {
    pub(crate) topic: String,
    pub(crate) level: QoS,
    pub(crate) retain: bool,
    pub(crate) payload: Vec<u8>,
}

impl Link {
    /// Adds a subscriber; true where it is the topic's first in this application.
    pub(crate) fn add(&self, topic: &str, inlet: Inlet) -> bool {
        let mut inlets = self.inlets.write().unwrap_or_else(PoisonError::into_inner);
        let of_topic = inlets.entry(topic.to_owned()).or_default();
        of_topic.push(inlet);
        of_topic.len() == 1
    }

    /// Whether the connection was lost.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// From now on the end of the connection is no loss.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    /// Whether the calling thread is the connection's own.
    pub(crate) fn is_own_thread() -> bool {
        IS_LINK.get()
    }

    /// Publishes from the connection's own thread: at once if there is room, else as soon as there is.
    pub(crate) fn publish_from_own_thread(&self, client: &Client, message: Message) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.is_empty() {
            waiting.extend(refused(client, message));
        } else {
            waiting.push_back(message);
        }
    }

    fn publish_waiting(&self, client: &Client) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(message) = waiting.pop_front() {
            if let Some(message) = refused(client, message) {
                waiting.push_front(message);
                return;
            }
        }
    }

    /// Reads and writes the connection until it is closed or lost.
    pub(crate) fn run(&self, mut connection: rumqttc::Connection, client: &Client, notes: &Sender<Note>) {
        IS_LINK.set(true);
        while let Ok(event) = connection.recv() {
            match event {
                Ok(Event::Incoming(Packet::Publish(message))) => self.deliver(&message),
                Ok(Event::Incoming(Packet::ConnAck(_))) => drop(notes.send(Note::Connected)),
                Ok(Event::Incoming(Packet::SubAck(answer))) => {
                    let granted = answer
                        .return_codes
                        .iter()
                        .all(|code| *code != SubscribeReasonCode::Failure);
                    drop(notes.send(Note::Subscribed(granted)));
                }
                Ok(Event::Outgoing(Outgoing::Disconnect)) => return,
                Ok(_) => {}
                Err(error) => return self.lose(error, notes),
            }
            self.publish_waiting(client);
        }
    }

    fn lose(&self, error: ConnectionError, notes: &Sender<Note>) {
        self.broken.store(true, Ordering::Release);
        if !self.closing.load(Ordering::Acquire) {
            let _ = writeln!(std::io::stderr(), "the connection to the broker is lost: {error}");
        }
        let _ = notes.send(Note::Broken(Box::new(error)));
    }

    fn deliver(&self, message: &Publish) {
        let received_ns = Inlet::stamp();
        let inlets = self.inlets.read().unwrap_or_else(PoisonError::into_inner);
        for inlet in inlets.get(&message.topic).into_iter().flatten() {
            inlet.receive_at(received_ns, &message.payload);
        }
    }
}

/// Tries to put a message into the client's queue; gives it back where there is no room.
fn refused(client: &Client, message: Message) -> Option<Message> {
    let Message {
        topic,
        level,
        retain,
        payload,
    } = message;
    match client.try_publish(topic, level, retain, payload) {
        Ok(()) => None,
        Err(rumqttc::ClientError::Request(request) | rumqttc::ClientError::TryRequest(request)) => match request {
            Request::Publish(publish) => Some(Message {
                topic: publish.topic,
                level: publish.qos,
                retain: publish.retain,
                payload: publish.payload.into(),
            }),
            _ => None,
        },
    }
}
