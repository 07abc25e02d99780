//! One publisher: the application's memory is moved to the client and queued for the connection's thread.
//!
//! Moving it is how rumqttc is meant to be used (`publish` takes whatever becomes a `Vec<u8>`); the client copies it once,
//! into its send buffer, on the connection's thread.

use std::sync::Arc;
use std::time::Duration;

use middlemark_runtime::{PublishError, PublishMoved};
use rumqttc::{AsyncClient, QoS};

use crate::client::within;
use crate::link::{Link, Message, refused};

/// A publisher on one topic.
pub(crate) struct TopicPublisher {
    pub(crate) client: AsyncClient,
    pub(crate) link: Arc<Link>,
    pub(crate) topic: String,
    pub(crate) level: QoS,
    pub(crate) retain: bool,
    /// How long the publish call waits for room in the client's queue; none: not at all.
    pub(crate) patience: Option<Duration>,
}

impl PublishMoved for TopicPublisher {
    fn publish_moved(&mut self, payload: Vec<u8>) -> Result<(), PublishError> {
        let message = Message {
            // rumqttc wants a string of its own for each message; given a borrowed one, it would make this copy itself.
            topic: self.topic.clone(),
            level: self.level,
            retain: self.retain,
            payload,
        };
        if Link::is_own_thread() {
            self.link.publish_from_own_thread(&self.client, message);
            return Ok(());
        }
        match refused(&self.client, message) {
            None => Ok(()),
            Some(message) => self.wait_for_room(message),
        }
    }
}

impl TopicPublisher {
    #[cold]
    fn wait_for_room(&self, message: Message) -> Result<(), PublishError> {
        // While the connection is lost nothing empties the queue.
        if self.link.is_broken() {
            return Err(PublishError::NotConnected);
        }
        let patience = self.patience.ok_or(PublishError::Full)?;
        let Message {
            topic,
            level,
            retain,
            payload,
        } = message;
        match within(patience, self.client.publish(topic, level, retain, payload)) {
            Some(Ok(())) => Ok(()),
            // It only fails when the connection's thread has ended.
            Some(Err(_)) => Err(PublishError::NotConnected),
            None => Err(PublishError::TimedOut),
        }
    }
}
