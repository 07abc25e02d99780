//! What all shims have alike (`shim/dds.h`) as Rust sees it: declarations, and the error that their results become.
//!
//! A worker's own functions are declared in its own crate; the shim that it links has both.

use std::ffi::{CStr, c_char};

/// `mm_reason`.
#[repr(C)]
pub struct Reason {
    text: [c_char; 256],
}

/// `mm_reader`, opaque.
#[repr(C)]
pub struct ShimReader {
    _opaque: [u8; 0],
}

/// `mm_waitset`, opaque.
#[cfg(feature = "wait_set")]
#[repr(C)]
pub struct ShimWaitSet {
    _opaque: [u8; 0],
}

#[cfg(feature = "wait_set")]
unsafe extern "C" {
    pub(crate) fn mm_waitset_attach(set: *mut ShimWaitSet, reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_waitset_wait(set: *mut ShimWaitSet, ready: *mut *mut ShimReader, most: usize) -> i32;
    pub(crate) fn mm_waitset_stop(set: *mut ShimWaitSet) -> i32;
    pub(crate) fn mm_waitset_close(set: *mut ShimWaitSet) -> i32;
}

unsafe extern "C" {
    safe fn mm_library() -> *const c_char;
    safe fn mm_version() -> *const c_char;
    safe fn mm_explain(code: i32) -> *const c_char;
    pub(crate) fn mm_wait(reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_take(reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_stop(reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_reader_failure(reader: *mut ShimReader) -> i32;
    pub(crate) fn mm_reader_close(reader: *mut ShimReader) -> i32;
}

/// A call that the library could not fulfil.
#[derive(Debug, thiserror::Error)]
#[error("{library} could not {doing}: {reason}")]
pub struct ShimError {
    library: String,
    doing: String,
    reason: String,
}

impl ShimError {
    fn new(doing: &str, reason: String) -> ShimError {
        ShimError {
            library: constant(mm_library()),
            doing: doing.to_owned(),
            reason,
        }
    }
}

/// The result of a call: 0 or more, or an error that says what was being done and what the return code means.
///
/// # Errors
/// The call's failure.
pub fn checked(code: i32, doing: &str) -> Result<i32, ShimError> {
    if code >= 0 {
        return Ok(code);
    }
    Err(ShimError::new(
        doing,
        format!("{} ({code})", constant(mm_explain(code))),
    ))
}

/// Opens something by a call that is given where to write the handle and, where it fails, the reason.
///
/// # Errors
/// The call's reason.
pub fn opened<T>(doing: &str, call: impl FnOnce(*mut *mut T, *mut Reason) -> i32) -> Result<*mut T, ShimError> {
    let mut handle = std::ptr::null_mut();
    let mut reason = Reason { text: [0; 256] };
    if call(&raw mut handle, &raw mut reason) == 0 {
        return Ok(handle);
    }
    // SAFETY: the shim leaves a terminated text, and the array began as zeros.
    let text = unsafe { CStr::from_ptr(reason.text.as_ptr()) };
    Err(ShimError::new(doing, text.to_string_lossy().into_owned()))
}

/// The policies that an endpoint really has, in words; or why they can't be read.
pub fn read_back<P: Default>(read: impl FnOnce(*mut P) -> i32, words: impl FnOnce(&P) -> String) -> String {
    let mut policies = P::default();
    match checked(read(&raw mut policies), "read policies back") {
        Ok(_) => words(&policies),
        Err(error) => error.to_string(),
    }
}

/// The version of the library's headers.
#[must_use]
pub fn version() -> String {
    constant(mm_version())
}

fn constant(text: *const c_char) -> String {
    // SAFETY: what the shims return so is a string constant.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
