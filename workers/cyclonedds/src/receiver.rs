//! How the messages of one reader reach their inlet: on a thread that waits or polls, or on the library's own thread.
//!
//! Publishing from the library's receive thread can wait for an acknowledgement that the same thread would have to read;
//! that is why a listener is not the default, and why `description` refuses it for a ping-pong.

use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use middlemark_runtime::{Inlet, MiddlewareError};

use crate::native::{self, NativeQos, NativeReceiver, checked};

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
pub(crate) struct Receiver {
    native: Native,
    thread: Option<JoinHandle<Result<(), MiddlewareError>>>,
    stopping: Arc<AtomicBool>,
    /// What the shim's context points to; dropped last.
    _inlet: Box<Inlet>,
}

/// The shim's receiver: one thread takes, others may only stop it.
#[derive(Clone, Copy)]
struct Native(*mut NativeReceiver);

// SAFETY: the shim's functions may be called from any thread; only one thread takes, and it is joined before the receiver
// is closed.
unsafe impl Send for Native {}

impl Receiver {
    pub(crate) fn open(
        participant: i32,
        topic: &CStr,
        policies: &NativeQos,
        size_bytes: usize,
        mode: ReceiveMode,
        inlet: Inlet,
    ) -> Result<Receiver, MiddlewareError> {
        let inlet = Box::new(inlet);
        let mut native = std::ptr::null_mut();
        // SAFETY: the topic and the policies live through the call, the inlet until the receiver is closed.
        let code = unsafe {
            native::mm_receiver_open(
                participant,
                topic.as_ptr(),
                policies,
                size_bytes as u32,
                (BATCH_BYTES / size_bytes).clamp(1, 64) as u32,
                i32::from(mode == ReceiveMode::Listener),
                hand_over,
                std::ptr::from_ref::<Inlet>(&inlet).cast_mut().cast(),
                &raw mut native,
            )
        };
        checked(code, || format!("create the reader of {}", topic.to_string_lossy()))?;
        let mut receiver = Receiver {
            native: Native(native),
            thread: None,
            stopping: Arc::default(),
            _inlet: inlet,
        };
        receiver.thread = receiver.start(mode)?;
        Ok(receiver)
    }

    fn start(&self, mode: ReceiveMode) -> std::io::Result<Option<JoinHandle<Result<(), MiddlewareError>>>> {
        let (native, stopping) = (self.native, Arc::clone(&self.stopping));
        let builder = std::thread::Builder::new().name("reader".into());
        match mode {
            ReceiveMode::Listener => Ok(None),
            ReceiveMode::WaitsetThread => builder.spawn(move || take_when_woken(native)).map(Some),
            ReceiveMode::Polling => builder.spawn(move || take_without_sleep(native, &stopping)).map(Some),
        }
    }

    /// The reader, for reading its policies back.
    pub(crate) fn reader(&self) -> i32 {
        // SAFETY: the receiver is open until `close`.
        unsafe { native::mm_receiver_reader(self.native.0) }
    }

    /// Stops delivering; when it returns the inlet is not called any more.
    pub(crate) fn close(mut self) -> Result<(), MiddlewareError> {
        self.stopping.store(true, Ordering::Relaxed);
        // SAFETY: the receiver is open; stopping is allowed beside waiting and taking.
        checked(unsafe { native::mm_stop(self.native.0) }, || {
            "wake a reader's thread".into()
        })?;
        let ended = self.thread.take().map(JoinHandle::join);
        // SAFETY: no thread takes or waits any more; a listener's reader is deleted first, which waits for its callback.
        unsafe { native::mm_receiver_close(self.native.0) };
        match ended {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(error),
            Some(Err(_)) => Err("a reader's thread panicked".into()),
        }
    }
}

// The closures take the whole wrapper, which is Send, and not the pointer in it.
#[allow(clippy::needless_pass_by_value)]
fn take_when_woken(native: Native) -> Result<(), MiddlewareError> {
    loop {
        // SAFETY: the receiver stays open until this thread is joined, and only this thread waits and takes.
        if checked(unsafe { native::mm_wait(native.0) }, || "wait for messages".into())? == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        checked(unsafe { native::mm_take(native.0) }, || "take messages".into())?;
    }
}

fn take_without_sleep(native: Native, stopping: &AtomicBool) -> Result<(), MiddlewareError> {
    while !stopping.load(Ordering::Relaxed) {
        // SAFETY: the receiver stays open until this thread is joined, and only this thread takes.
        if checked(unsafe { native::mm_take(native.0) }, || "take messages".into())? == 0 {
            std::hint::spin_loop();
        }
    }
    Ok(())
}

/// The shim's callback.
///
/// # Safety
/// `context` is the inlet of an open receiver, `bytes` points to `size` readable bytes.
unsafe extern "C" fn hand_over(context: *mut c_void, bytes: *const u8, size: usize) {
    // SAFETY: see above.
    let (inlet, message) = unsafe { (&*context.cast::<Inlet>(), std::slice::from_raw_parts(bytes, size)) };
    inlet.receive(message);
}
