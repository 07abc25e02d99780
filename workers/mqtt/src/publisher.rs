//! One publisher: a buffer is written in place, moved to the client, and queued for the connection's thread.
//!
//! Moving it is how rumqttc is meant to be used (`publish` takes whatever becomes a `Vec<u8>`); the client copies it once,
//! into its send buffer, on the connection's thread.

use std::mem::MaybeUninit;
use std::sync::Arc;

use middlemark_contract::Congestion;
use middlemark_runtime::{PublishError, PublishInPlace};
use rumqttc::{Client, QoS};

use crate::link::{Link, Message};

/// A publisher on one topic.
pub(crate) struct TopicPublisher {
    pub(crate) client: Client,
    pub(crate) link: Arc<Link>,
    pub(crate) topic: String,
    pub(crate) level: QoS,
    pub(crate) retain: bool,
    pub(crate) congestion: Congestion,
}

impl PublishInPlace for TopicPublisher {
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        let mut payload = Vec::with_capacity(size_bytes);
        write(&mut payload.spare_capacity_mut()[..size_bytes]);
        // SAFETY: the capacity is at least `size_bytes`, and `write` has filled all of them, as the trait demands.
        unsafe { payload.set_len(size_bytes) };
        self.hand_over(payload)
    }
}

impl TopicPublisher {
    fn hand_over(&self, payload: Vec<u8>) -> Result<(), PublishError> {
        let (topic, level, retain) = (self.topic.clone(), self.level, self.retain);
        if Link::is_own_thread() {
            let message = Message {
                topic,
                level,
                retain,
                payload,
            };
            self.link.publish_from_own_thread(&self.client, message);
            return Ok(());
        }
        // While the connection is lost nothing empties the queue, and a call that waited might wait for ever.
        let waits = self.congestion == Congestion::Block && !self.link.is_broken();
        let result = if waits {
            self.client.publish(topic, level, retain, payload)
        } else {
            self.client.try_publish(topic, level, retain, payload)
        };
        result.map_err(|_| match self.congestion {
            Congestion::Drop if !self.link.is_broken() => PublishError::Full,
            // A blocking call only fails when the connection's thread has ended.
            _ => PublishError::NotConnected,
        })
    }
}
