//! How the messages of one DDS reader reach their receiver: on a thread that waits or polls, or on the library's own.
//!
//! The shim takes them and calls back; here stand the thread, its end, and the callback. `delivery` says who takes,
//! `wait_set` is how several readers share a thread.

#[cfg(feature = "wait_set")]
pub mod wait_set;

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use middlemark_contract::Delivery;
use middlemark_runtime::{Idle, MiddlewareError, Receiver};

use crate::exchange::{Awaiting, Serving};
use crate::shim::{self, ShimError, ShimReader, checked};

/// `mm_on_message` of a shim.
pub type OnMessage = unsafe extern "C" fn(context: *mut c_void, bytes: *const u8, size: usize);

/// `mm_is_valid` of a shim.
pub type IsValid = unsafe extern "C" fn(sample: *const c_void) -> i32;

/// `mm_on_lent` of a shim.
pub type OnLent =
    unsafe extern "C" fn(context: *mut c_void, bytes: *const u8, size: usize, is_valid: IsValid, sample: *const c_void);

/// Who takes the samples of a reader.
pub enum Taker {
    /// A subscriber, of which each is a message.
    Subscriber(Receiver),
    /// A server, of which each is a request.
    Server(Serving),
    /// A client, of which each is a response, its own or another's.
    Client(Awaiting),
}

impl Taker {
    /// Takes one sample.
    #[inline]
    pub fn take(&self, sample: &[u8]) {
        match self {
            Taker::Subscriber(receiver) => receiver.receive(sample),
            Taker::Server(serving) => serving.take(sample),
            Taker::Client(awaiting) => awaiting.take(sample),
        }
    }
}

impl From<Receiver> for Taker {
    fn from(receiver: Receiver) -> Taker {
        Taker::Subscriber(receiver)
    }
}

/// A reader of the shim: one thread waits and takes, others may only stop it.
#[derive(Clone, Copy)]
pub(crate) struct Handle(*mut ShimReader);

// SAFETY: the shim's functions may be called from any thread; `Reader` has only one thread take, and joins it before the
// reader is closed.
unsafe impl Send for Handle {}

impl Handle {
    /// A reader that somebody else holds open.
    #[cfg(feature = "wait_set")]
    pub(crate) fn of(reader: *mut ShimReader) -> Handle {
        Handle(reader)
    }

    /// Waits until there is something to take (true) or the reader was stopped (false).
    ///
    /// # Safety
    /// The reader is open, and no other thread waits or takes.
    unsafe fn wait(self) -> Result<bool, ShimError> {
        // SAFETY: the caller's promises are the shim's.
        Ok(checked(unsafe { shim::mm_wait(self.0) }, "wait for messages")? > 0)
    }

    /// Hands over all that there is; false where there was nothing.
    ///
    /// # Safety
    /// The reader is open, and no other thread waits or takes.
    pub(crate) unsafe fn take(self) -> Result<bool, ShimError> {
        // SAFETY: as above.
        Ok(checked(unsafe { shim::mm_take(self.0) }, "take messages")? > 0)
    }

    /// Ends [`Self::wait`] for good, and tells what taking on the library's thread failed with.
    ///
    /// # Safety
    /// The reader is open.
    unsafe fn stop(self) -> Result<(), ShimError> {
        // SAFETY: as above.
        checked(unsafe { shim::mm_stop(self.0) }, "wake a reader's thread")?;
        // SAFETY: as above.
        let failure = unsafe { shim::mm_reader_failure(self.0) };
        checked(failure, "take messages in a callback")?;
        Ok(())
    }

    /// Deletes the reader; where the library's thread delivers, it waits for the callback.
    ///
    /// # Safety
    /// The reader is open, no thread waits or takes, and none of it is used afterwards.
    unsafe fn close(self) -> Result<(), ShimError> {
        // SAFETY: as above.
        checked(unsafe { shim::mm_reader_close(self.0) }, "delete a reader")?;
        Ok(())
    }
}

/// A reader that delivers; dropped, it ends as by [`Self::close`].
pub struct Reader {
    handle: Handle,
    thread: Option<JoinHandle<Result<(), ShimError>>>,
    stopping: Arc<AtomicBool>,
    /// What the shim's context points to, owned; none once the reader has ended.
    taker: Option<NonNull<Taker>>,
}

impl Reader {
    /// Opens a reader with this callback and its context, and has it deliver.
    ///
    /// # Safety
    /// What `open` returns is an open reader of the shim, and nobody else waits, takes or closes it.
    ///
    /// # Errors
    /// What `open` reported, or that there is no thread to be had.
    pub unsafe fn open(
        taker: impl Into<Taker>,
        delivery: Delivery,
        open: impl FnOnce(OnMessage, *mut c_void) -> Result<*mut ShimReader, ShimError>,
    ) -> Result<Reader, MiddlewareError> {
        let mut reader = Reader::without_thread(taker.into(), open)?;
        reader.thread = start(reader.handle, delivery, Arc::clone(&reader.stopping))?;
        Ok(reader)
    }

    /// The same of a reader that a [`crate::WaitSet`] is to take from: it has no thread of its own.
    ///
    /// # Safety
    /// As of [`Self::open`], but that the wait set takes from it.
    ///
    /// # Errors
    /// What `open` reported.
    #[cfg(feature = "wait_set")]
    pub unsafe fn open_shared(
        taker: impl Into<Taker>,
        open: impl FnOnce(OnMessage, *mut c_void) -> Result<*mut ShimReader, ShimError>,
    ) -> Result<Reader, MiddlewareError> {
        Ok(Reader::without_thread(taker.into(), open)?)
    }

    fn without_thread(
        taker: Taker,
        open: impl FnOnce(OnMessage, *mut c_void) -> Result<*mut ShimReader, ShimError>,
    ) -> Result<Reader, ShimError> {
        let taker = NonNull::from(Box::leak(Box::new(taker)));
        let opened = open(hand_over, taker.as_ptr().cast()).inspect_err(|_| {
            // SAFETY: it came from a box, and without a reader nobody else has it.
            drop(unsafe { Box::from_raw(taker.as_ptr()) });
        })?;
        Ok(Reader {
            handle: Handle(opened),
            thread: None,
            stopping: Arc::default(),
            taker: Some(taker),
        })
    }

    /// The shim's reader, open as long as this one.
    #[must_use]
    pub fn shim(&self) -> *mut ShimReader {
        self.handle.0
    }

    /// Stops delivering; when it returns nobody is handed anything any more.
    ///
    /// # Errors
    /// What the library reported, now or while messages were taken.
    pub fn close(mut self) -> Result<(), MiddlewareError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), MiddlewareError> {
        let Some(taker) = self.taker.take() else {
            return Ok(());
        };
        self.stopping.store(true, Ordering::Relaxed);
        // SAFETY: the reader is open; stopping is allowed beside waiting and taking.
        let stopped = unsafe { self.handle.stop() };
        let ended = self.thread.take().map(JoinHandle::join);
        // SAFETY: no thread takes or waits any more, and this is the last use of the reader.
        let closed = unsafe { self.handle.close() };
        if closed.is_ok() {
            // SAFETY: it came from a box, and nobody calls back any more. A reader that could not be deleted still may.
            drop(unsafe { Box::from_raw(taker.as_ptr()) });
        }
        match ended {
            None | Some(Ok(Ok(()))) => Ok(stopped.and(closed)?),
            Some(Ok(Err(error))) => Err(error.into()),
            Some(Err(_)) => Err("a reader's thread panicked".into()),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Only where something else has failed already, which is told in place of this.
        let _ = self.end();
    }
}

/// The thread that takes, where the library's does not.
fn start(
    handle: Handle,
    delivery: Delivery,
    stopping: Arc<AtomicBool>,
) -> std::io::Result<Option<JoinHandle<Result<(), ShimError>>>> {
    let builder = std::thread::Builder::new().name("reader".into());
    match delivery {
        Delivery::LibraryThread => Ok(None),
        Delivery::OwnThread => builder.spawn(move || take_when_woken(handle)).map(Some),
        Delivery::Polling => builder.spawn(move || take_without_sleep(handle, &stopping)).map(Some),
    }
}

fn take_when_woken(handle: Handle) -> Result<(), ShimError> {
    // SAFETY: the reader stays open until this thread is joined, and only this thread waits and takes.
    while unsafe { handle.wait()? } {
        // SAFETY: as above.
        unsafe { handle.take()? };
    }
    Ok(())
}

fn take_without_sleep(handle: Handle, stopping: &AtomicBool) -> Result<(), ShimError> {
    let mut idle = Idle::default();
    while !stopping.load(Ordering::Relaxed) {
        // SAFETY: the reader stays open until this thread is joined, and only this thread takes.
        idle.after_look(unsafe { handle.take()? });
    }
    Ok(())
}

/// The shim's callback.
///
/// # Safety
/// `context` is the taker of an open reader, `bytes` points to `size` readable bytes.
unsafe extern "C" fn hand_over(context: *mut c_void, bytes: *const u8, size: usize) {
    // SAFETY: see above.
    let (taker, sample) = unsafe { (&*context.cast::<Taker>(), std::slice::from_raw_parts(bytes, size)) };
    taker.take(sample);
}

/// The shim's callback for messages that are read where they lie, with the context that [`Reader::open`] gives.
///
/// # Safety
/// `context` is the taker of an open reader, `bytes` points to `size` readable bytes, and `sample` is for `is_valid`.
pub unsafe extern "C" fn hand_over_lent(
    context: *mut c_void,
    bytes: *const u8,
    size: usize,
    is_valid: IsValid,
    sample: *const c_void,
) {
    // SAFETY: see above; of bytes that change meanwhile nothing counts, as `receive_lent` asks `is_valid` after it has read.
    let (taker, message) = unsafe { (&*context.cast::<Taker>(), std::slice::from_raw_parts(bytes, size)) };
    // Requests and responses are never lent.
    if let Taker::Subscriber(receiver) = taker {
        // SAFETY: see above.
        receiver.receive_lent(message, || unsafe { is_valid(sample) } == 1);
    }
}

#[cfg(test)]
pub(crate) mod tests;
