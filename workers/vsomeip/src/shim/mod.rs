//! vSomeIP behind plain C, as safe handles: an application, what it offers, and (`exchange`) whom it asks and answers.
//!
//! The only unsafe code of this worker. It knows identifiers and bytes, and neither options nor configuration.

mod exchange;

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::NonNull;
use std::time::Duration;

use middlemark_runtime::{Matched, Publish, PublishError, Receiver, Server};

use crate::carriage::Carriage;

/// What vSomeIP could not do, in its own words.
#[derive(Debug, thiserror::Error)]
#[error("vSomeIP can't {doing}: {text}")]
pub(crate) struct ShimError {
    doing: &'static str,
    text: String,
}

/// Memory of the shim that only it looks into.
#[repr(C)]
struct Opaque([u8; 0]);

#[repr(C)]
struct ErrorText([c_char; 256]);

unsafe extern "C" {
    fn mm_vsomeip_open(name: *const c_char, patience_ms: u32, error: *mut ErrorText) -> *mut Opaque;
    fn mm_vsomeip_offer(
        application: *mut Opaque,
        service: u16,
        carriage: i32,
        on_matched: unsafe extern "C" fn(*mut c_void),
        context: *mut c_void,
        error: *mut ErrorText,
    ) -> *mut Opaque;
    fn mm_vsomeip_publish(publisher: *mut Opaque, data: *const u8, size_bytes: usize) -> bool;
    fn mm_vsomeip_publisher_free(publisher: *mut Opaque);
    fn mm_vsomeip_subscribe(
        application: *mut Opaque,
        service: u16,
        carriage: i32,
        receive: unsafe extern "C" fn(*mut c_void, *const u8, usize),
        context: *mut c_void,
        error: *mut ErrorText,
    ) -> bool;
    fn mm_vsomeip_close(application: *mut Opaque, error: *mut ErrorText) -> bool;
}

/// The version of the library that was built for this worker and lies beside it.
pub(crate) const VERSION: &str = env!("VSOMEIP_VERSION");

/// A started application of vSomeIP.
pub(crate) struct Application {
    /// None only while it is being dropped.
    handle: Option<NonNull<Opaque>>,
    /// What the shim holds as contexts; boxed, so that they stay in place, and freed only after the application is closed.
    #[expect(clippy::vec_box, reason = "the shim keeps their addresses")]
    receivers: Vec<Box<Receiver>>,
    #[expect(clippy::vec_box, reason = "the shim keeps their addresses")]
    matches: Vec<Box<Matched>>,
    #[expect(clippy::vec_box, reason = "the shim keeps their addresses")]
    servers: Vec<Box<Server>>,
}

impl Application {
    /// Starts an application by the configuration that `VSOMEIP_CONFIGURATION` names; with `patience` waits for it to be
    /// registered with the routing manager.
    pub(crate) fn open(name: &str, patience: Option<Duration>) -> Result<Application, ShimError> {
        let name = CString::new(name).map_err(|error| ShimError {
            doing: "open an application",
            text: error.to_string(),
        })?;
        let patience_ms = patience.map_or(0, |patience| patience.as_millis() as u32);
        let handle = attempt("open an application", |error| {
            // SAFETY: `name` is a C string that outlives the call, `error` is valid for writes.
            NonNull::new(unsafe { mm_vsomeip_open(name.as_ptr(), patience_ms, error) })
        })?;
        Ok(Application {
            handle: Some(handle),
            receivers: Vec::new(),
            matches: Vec::new(),
            servers: Vec::new(),
        })
    }

    /// Offers a service; its event may be published from now on.
    pub(crate) fn offer(&mut self, service: u16, carriage: Carriage, matched: Matched) -> Result<Offer, ShimError> {
        let context = keep(&mut self.matches, matched);
        attempt("offer a service", |error| {
            // SAFETY: the handle is open, `error` is valid for writes, and `context` points into a box that lives as long as
            // this application, whose closing ends all callbacks.
            NonNull::new(unsafe {
                mm_vsomeip_offer(self.handle(), service, code(carriage), on_matched, context, error)
            })
        })
        .map(Offer)
    }

    /// Requests a service and hands its events to `receiver`, on vSomeIP's dispatch thread.
    pub(crate) fn subscribe(&mut self, service: u16, carriage: Carriage, receiver: Receiver) -> Result<(), ShimError> {
        let context = keep(&mut self.receivers, receiver);
        attempt("subscribe", |error| {
            // SAFETY: the handle is open, `error` is valid for writes, and `context` points into a box that lives as long as
            // this application, whose closing ends all callbacks.
            unsafe { mm_vsomeip_subscribe(self.handle(), service, code(carriage), receive, context, error) }
                .then_some(())
        })
    }

    /// Stops the application; when it returns, no receiver is called any more and its threads are joined.
    pub(crate) fn close(mut self) -> Result<(), ShimError> {
        self.stop()
    }

    fn stop(&mut self) -> Result<(), ShimError> {
        let Some(handle) = self.handle.take() else {
            return Ok(());
        };
        attempt("close an application", |error| {
            // SAFETY: the handle is open and, being taken, never used again; `error` is valid for writes.
            unsafe { mm_vsomeip_close(handle.as_ptr(), error) }.then_some(())
        })
    }

    fn handle(&self) -> *mut Opaque {
        self.handle
            .expect("only closing takes the handle, and it takes the application too")
            .as_ptr()
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        // Only where opening the rest failed or the process is given up: what closing says then is of no more use.
        let _ = self.stop();
    }
}

/// Called by the shim with each message.
unsafe extern "C" fn receive(context: *mut c_void, data: *const u8, size_bytes: usize) {
    if data.is_null() {
        return;
    }
    // SAFETY: `context` is the receiver that `subscribe` or `ask` gave, alive until the application is closed; the payload is
    // valid until this call returns.
    unsafe { (*context.cast::<Receiver>()).receive(std::slice::from_raw_parts(data, size_bytes)) };
}

/// Called by the shim when somebody has subscribed to an offer, or a requested service is there.
unsafe extern "C" fn on_matched(context: *mut c_void) {
    // SAFETY: `context` is what `offer` or `ask` gave, alive until the application is closed.
    unsafe { (*context.cast::<Matched>()).now() };
}

/// A service that is offered, and the payload that its messages are copied into.
#[derive(Debug)]
pub(crate) struct Offer(NonNull<Opaque>);

// SAFETY: the shim's publisher holds no state of a thread, and vSomeIP's notify may be called from any.
unsafe impl Send for Offer {}

impl Publish for Offer {
    #[inline]
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        // SAFETY: the publisher lives until it is dropped, `message` is read within the call only.
        let accepted = unsafe { mm_vsomeip_publish(self.0.as_ptr(), message.as_ptr(), message.len()) };
        accepted.then_some(()).ok_or(PublishError::Failed {
            call: "notify",
            code: 0,
        })
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        // SAFETY: it was made by the shim and is freed once.
        unsafe { mm_vsomeip_publisher_free(self.0.as_ptr()) };
    }
}

/// Keeps what the shim is given as a context.
fn keep<T>(kept: &mut Vec<Box<T>>, value: T) -> *mut c_void {
    kept.push(Box::new(value));
    let kept: &T = kept.last().expect("it was pushed just now");
    std::ptr::from_ref(kept).cast_mut().cast()
}

/// The shim's `mm_vsomeip_carriage`.
fn code(carriage: Carriage) -> i32 {
    match carriage {
        Carriage::Local => 0,
        Carriage::Tcp => 1,
        Carriage::Udp => 2,
    }
}

fn attempt<T>(doing: &'static str, call: impl FnOnce(*mut ErrorText) -> Option<T>) -> Result<T, ShimError> {
    let mut error = ErrorText([0; 256]);
    call(&raw mut error).ok_or_else(|| ShimError {
        doing,
        text: read(&error.0),
    })
}

fn read(text: &[c_char]) -> String {
    let bytes: Vec<u8> = text.iter().map(|&byte| byte as u8).collect();
    CStr::from_bytes_until_nul(&bytes).map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
}
