//! How messages are handed over: the traits of a middleware's publishers, and why one may not accept a message.
//!
//! Nothing here acts; `stamping_publisher` calls these, `middleware` makes what implements them.

use std::mem::MaybeUninit;

/// How an application hands its messages over.
pub enum Publisher {
    /// The application's buffer is copied, or sent from, by the publish call.
    Copying(Box<dyn Publish>),
    /// The application writes into memory of the middleware.
    InPlace(Box<dyn PublishInPlace>),
    /// The application writes into memory of its own and gives that away, so that each message needs new memory.
    Moving(Box<dyn PublishMoved>),
}

/// A publisher that is lent: by which of the three ways this message, or this answer, is handed over.
pub enum PublisherMut<'a> {
    /// See [`Publisher::Copying`].
    Copying(&'a mut dyn Publish),
    /// See [`Publisher::InPlace`].
    InPlace(&'a mut dyn PublishInPlace),
    /// See [`Publisher::Moving`].
    Moving(&'a mut dyn PublishMoved),
}

impl Publisher {
    #[inline]
    pub(crate) fn as_mut(&mut self) -> PublisherMut<'_> {
        match self {
            Publisher::Copying(publisher) => PublisherMut::Copying(&mut **publisher),
            Publisher::InPlace(publisher) => PublisherMut::InPlace(&mut **publisher),
            Publisher::Moving(publisher) => PublisherMut::Moving(&mut **publisher),
        }
    }

    /// See [`Publish::flush`]; what is lent or given away is not held back.
    pub(crate) fn flush(&mut self) {
        if let Publisher::Copying(publisher) = self {
            publisher.flush();
        }
    }
}

/// Publishing from the application's own buffer.
pub trait Publish: Send {
    /// Hands one whole message to the middleware. Hot path: the stamp has just been written into `message`.
    ///
    /// # Errors
    /// The message was not accepted.
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError>;

    /// Sends what earlier calls hold back, so that several share a packet. Called where no further message follows at once:
    /// after each of before the window, and after the last of an unthrottled stream. Most middlewares hold nothing back.
    fn flush(&mut self) {}
}

/// Publishing by writing in place.
pub trait PublishInPlace: Send {
    /// Gets memory for `size_bytes`, calls `write` with it once (which fills all of it, the stamp last), and hands it over.
    ///
    /// The time to get the memory is the middleware's and charged to it; the time that `write` takes is not.
    ///
    /// # Errors
    /// No memory was to be had (then `write` was not called), or the message was not accepted.
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError>;
}

/// Publishing by giving memory away.
pub trait PublishMoved: Send {
    /// Hands one whole message to the middleware, which frees it when it no longer needs it. Hot path: the stamp has just
    /// been written into `message`.
    ///
    /// What the memory takes to get, its first touch included, is charged to the middleware, as its call asks for it.
    ///
    /// # Errors
    /// The message was not accepted.
    fn publish_moved(&mut self, message: Vec<u8>) -> Result<(), PublishError>;
}

/// Why a message was not accepted; holds no allocated memory, as it occurs on the hot path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// The middleware's queue, window or pool is full.
    #[error("the middleware did not accept the message: its queue or pool is full")]
    Full,
    /// The call waited as long as the middleware lets it and gave up.
    #[error("the publish call timed out inside the middleware")]
    TimedOut,
    /// There is no connection to send over yet, or no longer.
    #[error("not connected")]
    NotConnected,
    /// Any other failure: what was called, and the middleware's or the system's error number.
    #[error("{call} failed with {code}")]
    Failed {
        /// The function that failed.
        call: &'static str,
        /// Its error number.
        code: i64,
    },
}
