//! Servers and clients of SOME/IP methods, with a response or without one, as safe handles on an application.
//!
//! Requests come and are answered on vSomeIP's dispatch thread, responses come on it; whoever has a client may send on any.

use std::ffi::c_void;
use std::ptr::NonNull;

use middlemark_runtime::{Matched, Publish, PublishError, PublisherMut, Receiver, Server};

use crate::carriage::Carriage;
use crate::shim::{Application, ErrorText, Opaque, ShimError, attempt, code, keep, on_matched, receive};

unsafe extern "C" {
    fn mm_vsomeip_serve(
        application: *mut Opaque,
        service: u16,
        answer: unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut Opaque),
        context: *mut c_void,
        error: *mut ErrorText,
    ) -> bool;
    fn mm_vsomeip_respond(request: *mut Opaque, data: *const u8, size_bytes: usize) -> bool;
    fn mm_vsomeip_ask(
        application: *mut Opaque,
        service: u16,
        carriage: i32,
        receive: unsafe extern "C" fn(*mut c_void, *const u8, usize),
        receiver: *mut c_void,
        on_found: unsafe extern "C" fn(*mut c_void),
        context: *mut c_void,
        error: *mut ErrorText,
    ) -> *mut Opaque;
    fn mm_vsomeip_take(
        application: *mut Opaque,
        service: u16,
        receive: unsafe extern "C" fn(*mut c_void, *const u8, usize),
        context: *mut c_void,
        error: *mut ErrorText,
    ) -> bool;
    fn mm_vsomeip_call(
        application: *mut Opaque,
        service: u16,
        carriage: i32,
        on_found: unsafe extern "C" fn(*mut c_void),
        context: *mut c_void,
        error: *mut ErrorText,
    ) -> *mut Opaque;
    fn mm_vsomeip_send(client: *mut Opaque, data: *const u8, size_bytes: usize) -> i32;
    fn mm_vsomeip_client_free(client: *mut Opaque);
}

/// The shim's `mm_vsomeip_sent`.
const SENT: i32 = 0;
const NOBODY: i32 = 1;

impl Application {
    /// Offers a service whose requests `server` answers, on vSomeIP's dispatch thread.
    pub(crate) fn serve(&mut self, service: u16, server: Server) -> Result<(), ShimError> {
        let context = keep(&mut self.servers, server);
        attempt("offer a service", |error| {
            // SAFETY: the handle is open, `error` is valid for writes, and `context` points into a box that lives as long as
            // this application, whose closing ends all callbacks.
            unsafe { mm_vsomeip_serve(self.handle(), service, answer, context, error) }.then_some(())
        })
    }

    /// Requests a service whose responses `receiver` gets, on vSomeIP's dispatch thread; `found` is told that it is there.
    pub(crate) fn ask(
        &mut self,
        service: u16,
        carriage: Carriage,
        receiver: Receiver,
        found: Matched,
    ) -> Result<Client, ShimError> {
        let receiver = keep(&mut self.receivers, receiver);
        let found = keep(&mut self.matches, found);
        attempt("request a service", |error| {
            // SAFETY: the handle is open, `error` is valid for writes, and both contexts point into boxes that live as long as
            // this application, whose closing ends all callbacks.
            NonNull::new(unsafe {
                mm_vsomeip_ask(
                    self.handle(),
                    service,
                    code(carriage),
                    receive,
                    receiver,
                    on_matched,
                    found,
                    error,
                )
            })
        })
        .map(Client)
    }

    /// Offers a service whose requests have no response: `receiver` gets them, on vSomeIP's dispatch thread.
    pub(crate) fn take(&mut self, service: u16, receiver: Receiver) -> Result<(), ShimError> {
        let context = keep(&mut self.receivers, receiver);
        attempt("offer a service", |error| {
            // SAFETY: the handle is open, `error` is valid for writes, and `context` points into a box that lives as long as
            // this application, whose closing ends all callbacks.
            unsafe { mm_vsomeip_take(self.handle(), service, receive, context, error) }.then_some(())
        })
    }

    /// Requests a service whose requests have no response; `found` is told that it is there.
    pub(crate) fn call(&mut self, service: u16, carriage: Carriage, found: Matched) -> Result<Client, ShimError> {
        let context = keep(&mut self.matches, found);
        attempt("request a service", |error| {
            // SAFETY: the handle is open, `error` is valid for writes, and `context` points into a box that lives as long as
            // this application, whose closing ends all callbacks.
            NonNull::new(unsafe { mm_vsomeip_call(self.handle(), service, code(carriage), on_matched, context, error) })
        })
        .map(Client)
    }
}

/// Called by the shim with each request.
unsafe extern "C" fn answer(context: *mut c_void, data: *const u8, size_bytes: usize, request: *mut Opaque) {
    let Some(request) = NonNull::new(request) else { return };
    if data.is_null() {
        return;
    }
    // SAFETY: `context` is the server that `serve` gave, alive until the application is closed; payload and request are valid
    // until this call returns.
    unsafe {
        let message = std::slice::from_raw_parts(data, size_bytes);
        (*context.cast::<Server>()).serve(message, PublisherMut::Copying(&mut Response(request)));
    }
}

/// The response to one request.
struct Response(NonNull<Opaque>);

// SAFETY: it is lent to a call that comes back on the dispatch thread which made it, and dropped there.
unsafe impl Send for Response {}

impl Publish for Response {
    #[inline]
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        // SAFETY: the request is valid within the call that this was lent to, `message` is read within this call only.
        let accepted = unsafe { mm_vsomeip_respond(self.0.as_ptr(), message.as_ptr(), message.len()) };
        accepted
            .then_some(())
            .ok_or(PublishError::Failed { call: "send", code: 0 })
    }
}

/// One client: the request that its messages are copied into.
#[derive(Debug)]
pub(crate) struct Client(NonNull<Opaque>);

// SAFETY: the shim's client holds no state of a thread, and vSomeIP's send may be called from any.
unsafe impl Send for Client {}

impl Publish for Client {
    #[inline]
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        // SAFETY: the client lives until it is dropped, `message` is read within the call only.
        match unsafe { mm_vsomeip_send(self.0.as_ptr(), message.as_ptr(), message.len()) } {
            SENT => Ok(()),
            NOBODY => Err(PublishError::NotConnected),
            code => Err(PublishError::Failed {
                call: "send",
                code: code.into(),
            }),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: it was made by the shim and is freed once.
        unsafe { mm_vsomeip_client_free(self.0.as_ptr()) };
    }
}
