//! How the messages of one DDS reader reach their receiver: on a thread that waits or polls, or on the library's own.
//!
//! The shim takes them and calls back; here stand the thread, its end, and the callback. `receive_mode` says who takes.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use middlemark_runtime::{MiddlewareError, Receiver};

use crate::receive_mode::ReceiveMode;

/// `mm_on_message` of a shim.
pub type OnMessage = unsafe extern "C" fn(context: *mut c_void, bytes: *const u8, size: usize);

/// A reader of a shim, by its handle: one thread waits and takes, others may only stop it.
pub trait ReaderHandle: Copy + Send + 'static {
    /// Waits until there is something to take (true) or the reader was stopped (false).
    ///
    /// # Safety
    /// The reader is open, and no other thread waits or takes.
    ///
    /// # Errors
    /// What the library reported.
    unsafe fn wait(self) -> Result<bool, MiddlewareError>;

    /// Hands over all that there is; false where there was nothing.
    ///
    /// # Safety
    /// The reader is open, and no other thread waits or takes.
    ///
    /// # Errors
    /// What the library reported.
    unsafe fn take(self) -> Result<bool, MiddlewareError>;

    /// Ends [`Self::wait`] for good.
    ///
    /// # Safety
    /// The reader is open.
    ///
    /// # Errors
    /// What the library reported.
    unsafe fn stop(self) -> Result<(), MiddlewareError>;

    /// Deletes the reader; where the library's thread delivers, it waits for the callback.
    ///
    /// # Safety
    /// The reader is open, no thread waits or takes, and none of it is used afterwards.
    ///
    /// # Errors
    /// What the library reported.
    unsafe fn close(self) -> Result<(), MiddlewareError>;
}

/// A reader that delivers.
pub struct Reader<H: ReaderHandle> {
    handle: H,
    thread: Option<JoinHandle<Result<(), MiddlewareError>>>,
    stopping: Arc<AtomicBool>,
    /// What the shim's context points to; dropped last.
    _receiver: Box<Receiver>,
}

impl<H: ReaderHandle> Reader<H> {
    /// Opens a reader with this callback and its context, and has it deliver.
    ///
    /// # Errors
    /// What `open` reported, or that there is no thread to be had.
    pub fn open(
        receiver: Receiver,
        mode: ReceiveMode,
        open: impl FnOnce(OnMessage, *mut c_void) -> Result<H, MiddlewareError>,
    ) -> Result<Reader<H>, MiddlewareError> {
        let receiver = Box::new(receiver);
        let context = std::ptr::from_ref::<Receiver>(&receiver).cast_mut().cast();
        let handle = open(hand_over, context)?;
        let stopping = Arc::default();
        let thread = start(handle, mode, Arc::clone(&stopping))?;
        Ok(Reader {
            handle,
            thread,
            stopping,
            _receiver: receiver,
        })
    }

    /// The shim's handle of it, open as long as this one.
    pub fn handle(&self) -> H {
        self.handle
    }

    /// Stops delivering; when it returns the receiver is not called any more.
    ///
    /// # Errors
    /// What the library reported, now or while messages were taken.
    pub fn close(mut self) -> Result<(), MiddlewareError> {
        self.stopping.store(true, Ordering::Relaxed);
        // SAFETY: the reader is open; stopping is allowed beside waiting and taking.
        unsafe { self.handle.stop()? };
        let ended = self.thread.take().map(JoinHandle::join);
        // SAFETY: no thread takes or waits any more, and this is the last use of the reader.
        unsafe { self.handle.close()? };
        match ended {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(error),
            Some(Err(_)) => Err("a reader's thread panicked".into()),
        }
    }
}

/// The thread that takes, where the library's does not.
fn start<H: ReaderHandle>(
    handle: H,
    mode: ReceiveMode,
    stopping: Arc<AtomicBool>,
) -> std::io::Result<Option<JoinHandle<Result<(), MiddlewareError>>>> {
    let builder = std::thread::Builder::new().name("reader".into());
    match mode {
        ReceiveMode::Listener => Ok(None),
        ReceiveMode::WaitsetThread => builder.spawn(move || take_when_woken(handle)).map(Some),
        ReceiveMode::Polling => builder.spawn(move || take_without_sleep(handle, &stopping)).map(Some),
    }
}

fn take_when_woken(handle: impl ReaderHandle) -> Result<(), MiddlewareError> {
    // SAFETY: the reader stays open until this thread is joined, and only this thread waits and takes.
    while unsafe { handle.wait()? } {
        // SAFETY: as above.
        unsafe { handle.take()? };
    }
    Ok(())
}

fn take_without_sleep(handle: impl ReaderHandle, stopping: &AtomicBool) -> Result<(), MiddlewareError> {
    while !stopping.load(Ordering::Relaxed) {
        // SAFETY: the reader stays open until this thread is joined, and only this thread takes.
        if !unsafe { handle.take()? } {
            std::hint::spin_loop();
        }
    }
    Ok(())
}

/// The shim's callback.
///
/// # Safety
/// `context` is the receiver of an open reader, `bytes` points to `size` readable bytes.
unsafe extern "C" fn hand_over(context: *mut c_void, bytes: *const u8, size: usize) {
    // SAFETY: see above.
    let (receiver, message) = unsafe { (&*context.cast::<Receiver>(), std::slice::from_raw_parts(bytes, size)) };
    receiver.receive(message);
}
