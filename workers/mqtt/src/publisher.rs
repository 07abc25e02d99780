//! One publisher, or one client's requests: the application's memory is moved to the client and queued for the connection's
//! thread.
//!
//! Moving it is how rumqttc is meant to be used (`publish` takes whatever becomes a `Vec<u8>`); the client copies it once,
//! into its send buffer, on the connection's thread.

use std::sync::Arc;
use std::time::Duration;

use middlemark_runtime::{PublishError, PublishMoved};
use rumqttc::QoS;

use crate::exchange::Asking;
use crate::link::Link;
use crate::protocol::{Client, Ended, Message, Properties};

/// A publisher on one topic.
pub(crate) struct TopicPublisher {
    pub(crate) client: Client,
    pub(crate) link: Arc<Link>,
    pub(crate) topic: String,
    pub(crate) level: QoS,
    pub(crate) retain: bool,
    /// How long the publish call waits for room in the client's queue; none: not at all.
    pub(crate) patience: Option<Duration>,
    /// How it asks, where its messages are requests.
    pub(crate) asking: Option<Asking>,
}

impl PublishMoved for TopicPublisher {
    fn publish_moved(&mut self, payload: Vec<u8>) -> Result<(), PublishError> {
        let message = Message {
            // rumqttc wants a string of its own for each message; given a borrowed one, it would make this copy itself.
            topic: self.topic.clone(),
            level: self.level,
            retain: self.retain,
            payload,
            properties: self.asking.as_ref().map_or_else(Properties::default, Asking::next),
        };
        if Link::is_own_thread() {
            self.link.publish_from_own_thread(&self.client, message);
            return Ok(());
        }
        match self.client.try_publish(message) {
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
        match self.client.publish_within(patience, message) {
            Some(Ok(())) => Ok(()),
            Some(Err(Ended)) => Err(PublishError::NotConnected),
            None => Err(PublishError::TimedOut),
        }
    }
}
