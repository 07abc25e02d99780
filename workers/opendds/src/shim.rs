//! The shim (`shim/opendds.h`) as Rust sees it, beside what all shims have alike; nothing acts here.

use std::ffi::{c_char, c_void};

use middlemark_dds::{OnMessage, Policies, Reason, ShimReader};

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

/// `DDS::LENGTH_UNLIMITED`.
pub(crate) const UNLIMITED: i32 = -1;

/// `DDS::RETCODE_TIMEOUT`, negated.
pub(crate) const TIMED_OUT: i32 = -10;

unsafe extern "C" {
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
    pub(crate) fn mm_writer_close(writer: *mut ShimWriter) -> i32;
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
}
