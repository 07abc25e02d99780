//! How the messages of one reader reach their receiver: on a thread that waits in a wait set, or on the library's own thread.
//!
//! A write from the library's receive thread may have to wait for an acknowledgement that this very thread would read:
//! [`accept`] refuses what could come to that. `session` opens a reader; the shim takes the messages.

use std::ffi::{CStr, c_void};
use std::thread::JoinHandle;

use middlemark_contract::{ApplicationSpec, History, PatternSpec, Refusal, Reliability};
use middlemark_runtime::{MiddlewareError, Options, Receiver};

use crate::quality;
use crate::shim::{self, ShimQos, ShimReader, ShimSession, ShimType, checked, opened};

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
pub(crate) struct Reader {
    handle: Handle,
    thread: Option<JoinHandle<Result<(), MiddlewareError>>>,
    /// What the shim's context points to; dropped last.
    _receiver: Box<Receiver>,
}

/// The shim's reader: one thread takes, others may only stop it.
#[derive(Clone, Copy)]
struct Handle(*mut ShimReader);

// SAFETY: the shim's functions may be called from any thread; only one thread takes, and it is joined before the reader is
// closed.
unsafe impl Send for Handle {}

impl Reader {
    /// # Safety
    /// `session` is open, and stays so until the reader is closed.
    pub(crate) unsafe fn open(
        session: *mut ShimSession,
        topic: &CStr,
        message_type: ShimType,
        policies: &ShimQos,
        mode: ReceiveMode,
        receiver: Receiver,
    ) -> Result<Reader, MiddlewareError> {
        let receiver = Box::new(receiver);
        let context = std::ptr::from_ref::<Receiver>(&receiver).cast_mut().cast();
        let mut reader = std::ptr::null_mut();
        opened(&format!("create the reader of {}", topic.to_string_lossy()), |reason| {
            // SAFETY: the session is open; topic and policies live through the call, the receiver until the reader is closed.
            unsafe {
                shim::mm_reader_open(
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
        let handle = Handle(reader);
        let thread = if mode.listen {
            None
        } else {
            Some(
                std::thread::Builder::new()
                    .name("reader".into())
                    .spawn(move || take_when_woken(handle))?,
            )
        };
        Ok(Reader {
            handle,
            thread,
            _receiver: receiver,
        })
    }

    /// The policies that the reader really has.
    pub(crate) fn policies(&self) -> String {
        let mut policies = ShimQos::default();
        // SAFETY: the reader is open until `close`, and `policies` can be written.
        let code = unsafe { shim::mm_reader_qos(self.handle.0, &raw mut policies) };
        match checked(code, "read policies back") {
            Ok(_) => quality::words(&policies),
            Err(error) => error.to_string(),
        }
    }

    /// Stops delivering; when it returns the receiver is not called any more.
    pub(crate) fn close(mut self) -> Result<(), MiddlewareError> {
        // SAFETY: the reader is open; stopping is allowed beside waiting and taking.
        checked(unsafe { shim::mm_stop(self.handle.0) }, "wake a reader's thread")?;
        let ended = self.thread.take().map(JoinHandle::join);
        // SAFETY: no thread takes or waits any more; deleting a listener's reader waits for its callback.
        checked(unsafe { shim::mm_reader_close(self.handle.0) }, "delete a reader")?;
        match ended {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(error),
            Some(Err(_)) => Err("a reader's thread panicked".into()),
        }
    }
}

fn take_when_woken(handle: Handle) -> Result<(), MiddlewareError> {
    loop {
        // SAFETY: the reader stays open until this thread is joined, and only this thread waits and takes.
        if checked(unsafe { shim::mm_wait(handle.0) }, "wait for messages")? == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        checked(unsafe { shim::mm_take(handle.0) }, "take messages")?;
    }
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
