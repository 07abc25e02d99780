//! How the messages of one reader reach their receiver: on a thread that waits or polls, or on the library's own thread.
//!
//! Publishing from the library's receive thread can wait for an acknowledgement that the same thread would have to read;
//! that is why a listener is not the default, and why `description` refuses it for a ping-pong.

use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use middlemark_runtime::{MiddlewareError, Receiver};

use crate::shim::{self, ShimQos, ShimReader, checked};

/// Messages of together so many bytes are taken at once, so that none waits long for the copying of the others.
const BATCH_BYTES: usize = 64 << 10;

/// Who takes the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiveMode {
    WaitsetThread,
    Listener,
    Polling,
}

impl ReceiveMode {
    /// The mode of the option's value.
    pub(crate) fn of(word: &str) -> ReceiveMode {
        match word {
            "listener" => ReceiveMode::Listener,
            "polling" => ReceiveMode::Polling,
            _ => ReceiveMode::WaitsetThread,
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            ReceiveMode::WaitsetThread => "a thread for each reader, waiting in a wait set",
            ReceiveMode::Listener => "listener on the library's receive thread",
            ReceiveMode::Polling => "a thread for each reader, polling without sleep",
        }
    }
}

/// A reader that delivers.
pub(crate) struct Reader {
    handle: Handle,
    thread: Option<JoinHandle<Result<(), MiddlewareError>>>,
    stopping: Arc<AtomicBool>,
    /// What the shim's context points to; dropped last.
    _receiver: Box<Receiver>,
}

/// The shim's reader: one thread takes, others may only stop it.
#[derive(Clone, Copy)]
struct Handle(*mut ShimReader);

// SAFETY: the shim's functions may be called from any thread; only one thread takes, and it is joined before the reader
// is closed.
unsafe impl Send for Handle {}

impl Reader {
    pub(crate) fn open(
        participant: i32,
        topic: &CStr,
        policies: &ShimQos,
        size_bytes: usize,
        mode: ReceiveMode,
        receiver: Receiver,
    ) -> Result<Reader, MiddlewareError> {
        let receiver = Box::new(receiver);
        let mut handle = std::ptr::null_mut();
        // SAFETY: the topic and the policies live through the call, the receiver until the reader is closed.
        let code = unsafe {
            shim::mm_reader_open(
                participant,
                topic.as_ptr(),
                policies,
                size_bytes as u32,
                (BATCH_BYTES / size_bytes).clamp(1, 64) as u32,
                i32::from(mode == ReceiveMode::Listener),
                hand_over,
                std::ptr::from_ref::<Receiver>(&receiver).cast_mut().cast(),
                &raw mut handle,
            )
        };
        checked(code, || format!("create the reader of {}", topic.to_string_lossy()))?;
        let mut reader = Reader {
            handle: Handle(handle),
            thread: None,
            stopping: Arc::default(),
            _receiver: receiver,
        };
        reader.thread = reader.start(mode)?;
        Ok(reader)
    }

    fn start(&self, mode: ReceiveMode) -> std::io::Result<Option<JoinHandle<Result<(), MiddlewareError>>>> {
        let (handle, stopping) = (self.handle, Arc::clone(&self.stopping));
        let builder = std::thread::Builder::new().name("reader".into());
        match mode {
            ReceiveMode::Listener => Ok(None),
            ReceiveMode::WaitsetThread => builder.spawn(move || take_when_woken(handle)).map(Some),
            ReceiveMode::Polling => builder.spawn(move || take_without_sleep(handle, &stopping)).map(Some),
        }
    }

    /// The reader, for reading its policies back.
    pub(crate) fn reader(&self) -> i32 {
        // SAFETY: the reader is open until `close`.
        unsafe { shim::mm_reader_entity(self.handle.0) }
    }

    /// Stops delivering; when it returns the receiver is not called any more.
    pub(crate) fn close(mut self) -> Result<(), MiddlewareError> {
        self.stopping.store(true, Ordering::Relaxed);
        // SAFETY: the reader is open; stopping is allowed beside waiting and taking.
        checked(unsafe { shim::mm_stop(self.handle.0) }, || {
            "wake a reader's thread".into()
        })?;
        let ended = self.thread.take().map(JoinHandle::join);
        // SAFETY: no thread takes or waits any more; a listener's reader is deleted first, which waits for its callback.
        unsafe { shim::mm_reader_close(self.handle.0) };
        match ended {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(error),
            Some(Err(_)) => Err("a reader's thread panicked".into()),
        }
    }
}

// The closures take the whole wrapper, which is Send, and not the pointer in it.
#[allow(clippy::needless_pass_by_value)]
fn take_when_woken(handle: Handle) -> Result<(), MiddlewareError> {
    loop {
        // SAFETY: the reader stays open until this thread is joined, and only this thread waits and takes.
        if checked(unsafe { shim::mm_wait(handle.0) }, || "wait for messages".into())? == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        checked(unsafe { shim::mm_take(handle.0) }, || "take messages".into())?;
    }
}

fn take_without_sleep(handle: Handle, stopping: &AtomicBool) -> Result<(), MiddlewareError> {
    while !stopping.load(Ordering::Relaxed) {
        // SAFETY: the reader stays open until this thread is joined, and only this thread takes.
        if checked(unsafe { shim::mm_take(handle.0) }, || "take messages".into())? == 0 {
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
