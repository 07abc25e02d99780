//! Receiving: what has come to a subscriber, handed over by the thread that owns it.
//!
//! When to look is `receive_loop`'s.

use iceoryx2::port::subscriber::Subscriber;
use middlemark_runtime::{MiddlewareError, Receiver};

use crate::receive_loop::Inbox;
use crate::service::Kind;

/// A subscriber's messages.
pub(crate) struct Messages {
    subscriber: Subscriber<Kind, [u8], ()>,
    receiver: Receiver,
}

impl Messages {
    pub(crate) fn new(subscriber: Subscriber<Kind, [u8], ()>, receiver: Receiver) -> Messages {
        Messages { subscriber, receiver }
    }
}

impl Inbox for Messages {
    #[inline]
    fn empty(&mut self) -> Result<bool, MiddlewareError> {
        let mut found = false;
        while let Some(message) = self.subscriber.receive()? {
            self.receiver.receive(message.payload());
            found = true;
        }
        Ok(found)
    }
}
