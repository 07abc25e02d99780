//! The shim (`shim/cyclone.h`) as Rust sees it: declarations and the error that its return codes become; nothing acts here.

use std::ffi::{CStr, c_char, c_void};

use middlemark_dds::{OnMessage, Policies};

/// `mm_reader`, opaque.
#[repr(C)]
pub(crate) struct ShimReader {
    _opaque: [u8; 0],
}

/// `DDS_LENGTH_UNLIMITED`.
pub(crate) const UNLIMITED: i32 = -1;

/// `DDS_RETCODE_TIMEOUT`.
pub(crate) const TIMED_OUT: i32 = -10;

unsafe extern "C" {
    pub(crate) fn mm_version() -> *const c_char;
    pub(crate) fn mm_explain(code: i32) -> *const c_char;
    pub(crate) fn mm_open(domain: u32, configuration: *const c_char, domain_entity: *mut i32) -> i32;
    pub(crate) fn mm_delete(entity: i32) -> i32;
    pub(crate) fn mm_writer(
        participant: i32,
        topic: *const c_char,
        qos: *const Policies,
        matching: *const c_void,
    ) -> i32;
    pub(crate) fn mm_write(writer: i32, bytes: *const u8, size: u32) -> i32;
    pub(crate) fn mm_read_back(entity: i32, qos: *mut Policies) -> i32;
    pub(crate) fn mm_loans_shared_memory(writer: i32) -> i32;
    pub(crate) fn mm_reader_open(
        participant: i32,
        topic: *const c_char,
        qos: *const Policies,
        size: u32,
        batch: u32,
        delivery: i32,
        on_message: OnMessage,
        context: *mut c_void,
        reader: *mut *mut ShimReader,
    ) -> i32;
    pub(crate) fn mm_reader_entity(reader: *const ShimReader) -> i32;
    pub(crate) fn mm_wait(reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_take(reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_stop(reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_reader_close(reader: *mut ShimReader) -> i32;
}

/// A call that Cyclone DDS answered with a negative return code.
#[derive(Debug, thiserror::Error)]
#[error("Cyclone DDS could not {doing}: {} ({code})", explain(*code))]
pub(crate) struct CycloneError {
    doing: String,
    code: i32,
}

/// The result of a call: an entity, a count or 0, or an error that says what was being done.
pub(crate) fn checked(code: i32, doing: impl FnOnce() -> String) -> Result<i32, CycloneError> {
    if code >= 0 {
        Ok(code)
    } else {
        Err(CycloneError { doing: doing(), code })
    }
}

/// The version that the library was built with.
pub(crate) fn version() -> String {
    // SAFETY: the function takes nothing and returns a string constant.
    unsafe { CStr::from_ptr(mm_version()) }.to_string_lossy().into_owned()
}

fn explain(code: i32) -> String {
    // SAFETY: any code is allowed, and the answer is a string constant.
    unsafe { CStr::from_ptr(mm_explain(code)) }
        .to_string_lossy()
        .into_owned()
}
