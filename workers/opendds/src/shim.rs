//! The shim (`shim/opendds.h`) as Rust sees it: declarations and the error that its results become; nothing acts here.

use std::ffi::{CStr, c_char, c_void};

use middlemark_dds::{OnMessage, Policies};

/// `mm_reason`.
#[repr(C)]
pub(crate) struct Reason {
    text: [c_char; 256],
}

/// `mm_session`, opaque.
#[repr(C)]
pub(crate) struct ShimSession {
    _opaque: [u8; 0],
}

/// `mm_writer`, opaque.
#[repr(C)]
pub(crate) struct ShimWriter {
    _opaque: [u8; 0],
}

/// `mm_reader`, opaque.
#[repr(C)]
pub(crate) struct ShimReader {
    _opaque: [u8; 0],
}

/// `DDS::LENGTH_UNLIMITED`.
pub(crate) const UNLIMITED: i32 = -1;

/// `DDS::RETCODE_TIMEOUT`, negated.
pub(crate) const TIMED_OUT: i32 = -10;

unsafe extern "C" {
    pub(crate) fn mm_version() -> *const c_char;
    pub(crate) fn mm_open(
        domain: i32,
        configuration_file: *const c_char,
        session: *mut *mut ShimSession,
        reason: *mut Reason,
    ) -> i32;
    pub(crate) fn mm_close(session: *mut ShimSession) -> i32;
    pub(crate) fn mm_writer_open(
        session: *mut ShimSession,
        topic: *const c_char,
        qos: *const Policies,
        matching: *const c_void,
        writer: *mut *mut ShimWriter,
        reason: *mut Reason,
    ) -> i32;
    pub(crate) fn mm_write(writer: *mut ShimWriter, bytes: *const u8, size: u32) -> i32;
    pub(crate) fn mm_writer_qos(writer: *mut ShimWriter, qos: *mut Policies) -> i32;
    pub(crate) fn mm_writer_free(writer: *mut ShimWriter);
    pub(crate) fn mm_reader_open(
        session: *mut ShimSession,
        topic: *const c_char,
        qos: *const Policies,
        delivery: i32,
        on_message: OnMessage,
        context: *mut c_void,
        reader: *mut *mut ShimReader,
        reason: *mut Reason,
    ) -> i32;
    pub(crate) fn mm_reader_qos(reader: *mut ShimReader, qos: *mut Policies) -> i32;
    pub(crate) fn mm_wait(reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_take(reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_stop(reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_reader_failure(reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_reader_close(reader: *mut ShimReader) -> i32;
}

/// A call that OpenDDS could not fulfil.
#[derive(Debug, thiserror::Error)]
#[error("OpenDDS could not {doing}: {reason}")]
pub(crate) struct OpenDdsError {
    doing: String,
    reason: String,
}

/// The result of a call: 0 or a count, or an error that says what was being done and the DDS return code.
pub(crate) fn checked(code: i32, doing: &str) -> Result<i32, OpenDdsError> {
    if code >= 0 {
        return Ok(code);
    }
    Err(OpenDdsError {
        doing: doing.to_owned(),
        reason: format!("return code {}", -code),
    })
}

/// The result of a call that opens something and says itself why it can't.
pub(crate) fn opened(doing: &str, call: impl FnOnce(&mut Reason) -> i32) -> Result<(), OpenDdsError> {
    let mut reason = Reason { text: [0; 256] };
    if call(&mut reason) == 0 {
        return Ok(());
    }
    // SAFETY: the shim leaves a terminated text, and the array began as zeros.
    let text = unsafe { CStr::from_ptr(reason.text.as_ptr()) };
    Err(OpenDdsError {
        doing: doing.to_owned(),
        reason: text.to_string_lossy().into_owned(),
    })
}

/// The version of the library's headers; the libraries' names hold them to the same version.
pub(crate) fn version() -> String {
    // SAFETY: the function takes nothing and returns a string constant.
    unsafe { CStr::from_ptr(mm_version()) }.to_string_lossy().into_owned()
}
