//! What the connection's thread and the publishers share: who subscribes to which topic, and answers that have to wait.
//!
//! The thread polls rumqttc's event loop, which alone reads and writes the socket; it must never wait for itself, so what
//! is published from it is kept until the client's queue has room again. A lost connection is made again, as long as it
//! takes, and its subscriptions with it.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use middlemark_runtime::{Receiver, clock};
use rumqttc::QoS;

use crate::exchange::{Awaiting, Serving};
use crate::protocol::{Client, Connection, ConnectionError, Delivered, Event, Message};

thread_local! {
    static IS_LINK: Cell<bool> = const { Cell::new(false) };
}

/// What the connection's thread tells the session.
#[derive(Debug)]
pub(crate) enum Note {
    /// The broker accepted the connection: since when, and when it began to be made.
    Connected { since_ns: i64, began_ns: i64 },
    /// The broker answered a subscription; whether it granted it.
    Subscribed(bool),
    /// The connection is lost, or never came to be.
    Broken(ConnectionError),
}

/// The state of one connection.
#[derive(Default)]
pub(crate) struct Link {
    topics: RwLock<HashMap<String, Topic>>,
    waiting: Mutex<VecDeque<Message>>,
    broken: AtomicBool,
    closing: AtomicBool,
}

/// What an application subscribes to.
struct Topic {
    level: QoS,
    takers: Vec<Taker>,
}

/// Who takes the messages of a topic.
pub(crate) enum Taker {
    Subscriber(Receiver),
    Server(Serving),
    Client(Awaiting),
}

impl Link {
    /// Adds a subscriber; true where it is the topic's first in this application.
    pub(crate) fn add(&self, topic: &str, level: QoS, taker: Taker) -> bool {
        let mut topics = self.topics.write().unwrap_or_else(PoisonError::into_inner);
        let topic = topics.entry(topic.to_owned()).or_insert(Topic {
            level,
            takers: Vec::new(),
        });
        topic.takers.push(taker);
        topic.takers.len() == 1
    }

    /// Whether the connection is lost, and not yet made again.
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
            waiting.extend(client.try_publish(message));
        } else {
            waiting.push_back(message);
        }
    }

    fn publish_waiting(&self, client: &Client) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(message) = waiting.pop_front() {
            if let Some(message) = client.try_publish(message) {
                waiting.push_front(message);
                return;
            }
        }
    }

    /// Reads and writes the connection until it is closed; tries every `retry` to make a lost one again.
    pub(crate) fn run(&self, mut connection: Connection, client: &Client, notes: &Sender<Note>, retry: Duration) {
        IS_LINK.set(true);
        let mut began_ns = clock::now_ns();
        while let Some(event) = connection.next() {
            match event {
                Ok(Event::Message(message)) => self.deliver(&message, client),
                Ok(Event::Connected) => {
                    let since_ns = clock::now_ns();
                    self.connected(&mut connection);
                    drop(notes.send(Note::Connected { since_ns, began_ns }));
                }
                Ok(Event::Subscribed(is_granted)) => drop(notes.send(Note::Subscribed(is_granted))),
                Ok(Event::Closed) => return,
                Ok(Event::Other) => {}
                Err(error) => {
                    self.lose(&mut connection, error, notes);
                    if self.closes_within(retry) {
                        return;
                    }
                    began_ns = clock::now_ns();
                }
            }
            self.publish_waiting(client);
        }
    }

    /// Asks a broker that knows nothing of an earlier connection for what this application subscribes to.
    ///
    /// It goes before all that the client's queue holds: that may be full, and this thread is the one that empties it.
    fn connected(&self, connection: &mut Connection) {
        let topics = self.topics.read().unwrap_or_else(PoisonError::into_inner);
        if !topics.is_empty() {
            connection.subscribe_first(topics.iter().map(|(topic, known)| (topic, known.level)));
        }
        if self.broken.swap(false, Ordering::AcqRel) {
            let _ = writeln!(std::io::stderr(), "the connection to the broker is there again");
        }
    }

    fn lose(&self, connection: &mut Connection, error: ConnectionError, notes: &Sender<Note>) {
        if !self.broken.swap(true, Ordering::AcqRel) {
            // Once more than the client does itself: a publisher that has not seen the loss may have filled the queue
            // again, and would wait for a place in it.
            connection.clean();
            if !self.closing.load(Ordering::Acquire) {
                let _ = writeln!(std::io::stderr(), "the connection to the broker is lost: {error}");
            }
        }
        let _ = notes.send(Note::Broken(error));
    }

    /// Whether the connection is not wanted any more; who closes it wakes this thread.
    fn closes_within(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.closing.load(Ordering::Acquire) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            thread::park_timeout(left);
        }
        true
    }

    fn deliver(&self, message: &Delivered, client: &Client) {
        let received_ns = Receiver::stamp();
        let topics = self.topics.read().unwrap_or_else(PoisonError::into_inner);
        for taker in topics.get(message.topic()).iter().flat_map(|topic| &topic.takers) {
            match taker {
                Taker::Subscriber(receiver) => receiver.receive_at(received_ns, message.payload()),
                Taker::Server(serving) => serving.serve(received_ns, message, |response| {
                    self.publish_from_own_thread(client, response);
                }),
                Taker::Client(awaiting) => awaiting.take(received_ns, message),
            }
        }
    }
}
