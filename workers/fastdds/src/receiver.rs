//! How the messages of one reader reach their inlet: on a thread that waits in a wait set, or on the library's own thread.
//!
//! A write from the library's receive thread may have to wait for an acknowledgement that this very thread would read:
//! [`accept`] refuses what could come to that. `session` opens a receiver; the shim takes the messages.

use std::ffi::{CStr, c_void};
use std::thread::JoinHandle;

use middlemark_contract::{ApplicationSpec, History, PatternSpec, Refusal, Reliability};
use middlemark_runtime::{Inlet, MiddlewareError, Options};

use crate::native::{self, NativeQos, NativeReader, NativeSession, NativeType, checked, opened};
use crate::quality;

/// Refuses answers from a listener where a full history makes them wait.
pub(crate) fn accept(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    let waits = spec.streams.iter().find(|stream| {
        matches!(stream.pattern, PatternSpec::PingPong { .. })
            && stream.qos.history == History::KeepAll
            && stream.qos.reliability == Reliability::Reliable
    });
    match waits {
        Some(stream) if options.text("receive_mode") == "listener" => Err(Refusal {
            capability: "option".into(),
            reason: format!(
                "receive_mode 'listener' can't carry the reliable ping_pong '{}' with keep_all: an answer that finds the \
                 history full waits for acknowledgements that only the listener's thread reads; allowed: waitset_thread",
                stream.name
            ),
        }),
        _ => Ok(()),
    }
}

/// How a reader is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReceiveMode {
    /// Messages are taken on the library's receive thread.
    pub(crate) listen: bool,
    /// Messages are read where they lie.
    pub(crate) loans: bool,
}

/// A reader that delivers.
pub(crate) struct Receiver {
    native: Native,
    thread: Option<JoinHandle<Result<(), MiddlewareError>>>,
    /// What the shim's context points to; dropped last.
    _inlet: Box<Inlet>,
}

/// The shim's reader: one thread takes, others may only stop it.
#[derive(Clone, Copy)]
struct Native(*mut NativeReader);

// SAFETY: the shim's functions may be called from any thread; only one thread takes, and it is joined before the reader is
// closed.
unsafe impl Send for Native {}

impl Receiver {
    /// # Safety
    /// `session` is open, and stays so until the receiver is closed.
    pub(crate) unsafe fn open(
        session: *mut NativeSession,
        topic: &CStr,
        message_type: NativeType,
        policies: &NativeQos,
        mode: ReceiveMode,
        inlet: Inlet,
    ) -> Result<Receiver, MiddlewareError> {
        let inlet = Box::new(inlet);
        let context = std::ptr::from_ref::<Inlet>(&inlet).cast_mut().cast();
        let mut reader = std::ptr::null_mut();
        opened(&format!("create the reader of {}", topic.to_string_lossy()), |reason| {
            // SAFETY: the session is open; topic and policies live through the call, the inlet until the reader is closed.
            unsafe {
                native::mm_reader_open(
                    session,
                    topic.as_ptr(),
                    message_type,
                    policies,
                    i32::from(mode.listen),
                    i32::from(mode.loans),
                    hand_over,
                    context,
                    &raw mut reader,
                    reason,
                )
            }
        })?;
        let native = Native(reader);
        let thread = if mode.listen {
            None
        } else {
            Some(
                std::thread::Builder::new()
                    .name("reader".into())
                    .spawn(move || take_when_woken(native))?,
            )
        };
        Ok(Receiver {
            native,
            thread,
            _inlet: inlet,
        })
    }

    /// The policies that the reader really has.
    pub(crate) fn policies(&self) -> String {
        let mut policies = NativeQos::default();
        // SAFETY: the reader is open until `close`, and `policies` can be written.
        let code = unsafe { native::mm_reader_qos(self.native.0, &raw mut policies) };
        match checked(code, "read policies back") {
            Ok(_) => quality::words(&policies),
            Err(error) => error.to_string(),
        }
    }

    /// Stops delivering; when it returns the inlet is not called any more.
    pub(crate) fn close(mut self) -> Result<(), MiddlewareError> {
        // SAFETY: the reader is open; stopping is allowed beside waiting and taking.
        checked(unsafe { native::mm_stop(self.native.0) }, "wake a reader's thread")?;
        let ended = self.thread.take().map(JoinHandle::join);
        // SAFETY: no thread takes or waits any more; deleting a listener's reader waits for its callback.
        checked(unsafe { native::mm_reader_close(self.native.0) }, "delete a reader")?;
        match ended {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(error),
            Some(Err(_)) => Err("a reader's thread panicked".into()),
        }
    }
}

fn take_when_woken(native: Native) -> Result<(), MiddlewareError> {
    loop {
        // SAFETY: the reader stays open until this thread is joined, and only this thread waits and takes.
        if checked(unsafe { native::mm_wait(native.0) }, "wait for messages")? == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        checked(unsafe { native::mm_take(native.0) }, "take messages")?;
    }
}

/// The shim's callback.
///
/// # Safety
/// `context` is the inlet of an open reader, `bytes` points to `size` readable bytes.
unsafe extern "C" fn hand_over(context: *mut c_void, bytes: *const u8, size: usize) {
    // SAFETY: see above.
    let (inlet, message) = unsafe { (&*context.cast::<Inlet>(), std::slice::from_raw_parts(bytes, size)) };
    inlet.receive(message);
}
