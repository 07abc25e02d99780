//! A connection's state in the hands of those who need it: of one end of a connection alone, or of two threads.
//!
//! TLS has one state for both directions of a connection; where one thread reads and another writes, they take turns at it
//! for as long as a record takes to encrypt or decrypt, and never while one of them waits for the socket.

use std::sync::{Arc, Mutex, PoisonError};

use super::handshake::End;

/// Who holds the state of a connection.
pub(super) trait Held: Send {
    type End: End;

    fn with<T>(&mut self, act: impl FnOnce(&mut Self::End) -> T) -> T;
}

/// Whoever only reads or only writes.
pub(super) struct Alone<E>(pub(super) E);

impl<E: End + Send> Held for Alone<E> {
    type End = E;

    #[inline]
    fn with<T>(&mut self, act: impl FnOnce(&mut E) -> T) -> T {
        act(&mut self.0)
    }
}

/// One of two, who read and write.
pub(super) struct Shared<E>(Arc<Mutex<E>>);

impl<E> Shared<E> {
    pub(super) fn two(end: E) -> [Shared<E>; 2] {
        let end = Arc::new(Mutex::new(end));
        [Shared(Arc::clone(&end)), Shared(end)]
    }
}

impl<E: End + Send> Held for Shared<E> {
    type End = E;

    #[inline]
    fn with<T>(&mut self, act: impl FnOnce(&mut E) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
