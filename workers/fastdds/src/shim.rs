//! The shim (`shim/fastdds.h`) as Rust sees it, beside what all shims have alike; nothing acts here.

use std::ffi::{c_char, c_void};

use middlemark_dds::exchange::Guid;
use middlemark_dds::security::ShimProperty;
use middlemark_dds::{Counterparts, OnLent, OnMessage, Policies, Reason, ShimReader, ShimWaitSet};

/// Whether the library that it is compiled against is of version 3, which has another name.
pub(crate) fn is_version_3() -> bool {
    env!("MIDDLEMARK_FASTDDS_LIBRARY") == "fastdds"
}

/// Whether that library has the built-in transports `LARGE_DATA`.
pub(crate) fn has_large_data() -> bool {
    env!("MIDDLEMARK_FASTDDS_LARGE_DATA") == "true"
}

/// `mm_place`.
#[repr(C)]
pub(crate) struct ShimPlace {
    pub(crate) address: *const c_char,
    pub(crate) port: u16,
    pub(crate) index: u16,
}

/// `mm_transports`.
#[repr(C)]
pub(crate) struct ShimTransports {
    pub(crate) domain: u32,
    pub(crate) name: *const c_char,
    pub(crate) own: *const ShimPlace,
    pub(crate) own_count: usize,
    pub(crate) others: *const ShimPlace,
    pub(crate) others_count: usize,
    pub(crate) discovery: i32,
    pub(crate) participants: u32,
    pub(crate) udp: i32,
    pub(crate) shared_memory: i32,
    pub(crate) large_data: i32,
    pub(crate) intraprocess: i32,
    pub(crate) send_buffer_bytes: u32,
    pub(crate) receive_buffer_bytes: u32,
    pub(crate) max_message_bytes: u32,
    pub(crate) segment_bytes: u32,
    pub(crate) port_queue: u32,
    pub(crate) properties: *const ShimProperty,
    pub(crate) property_count: usize,
}

/// `mm_qos`.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShimQos {
    /// What it begins with.
    pub(crate) policies: Policies,
    pub(crate) heartbeat_ns: i64,
    pub(crate) asynchronous: i32,
    /// 0 off, 1 where possible, 2 required.
    pub(crate) data_sharing: i32,
    pub(crate) memory_policy: i32,
}

/// `mm_type`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShimType {
    pub(crate) name: *const c_char,
    pub(crate) size: u32,
    pub(crate) plain: i32,
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

unsafe extern "C" {
    pub(crate) fn mm_open(
        transports: *const ShimTransports,
        session: *mut *mut ShimSession,
        reason: *mut Reason,
    ) -> i32;
    pub(crate) fn mm_longest_handshake_ns(session: *mut ShimSession) -> i64;
    pub(crate) fn mm_has_property(session: *mut ShimSession, property: *const ShimProperty) -> i32;
    pub(crate) fn mm_close(session: *mut ShimSession) -> i32;
    pub(crate) fn mm_writer_open(
        session: *mut ShimSession,
        topic: *const c_char,
        message_type: ShimType,
        qos: *const ShimQos,
        matching: *const c_void,
        writer: *mut *mut ShimWriter,
        reason: *mut Reason,
    ) -> i32;
    pub(crate) fn mm_writer_guid(writer: *mut ShimWriter, guid: *mut Guid) -> i32;
    pub(crate) fn mm_write(writer: *mut ShimWriter, bytes: *const u8, size: u32) -> i32;
    pub(crate) fn mm_loan(writer: *mut ShimWriter, bytes: *mut *mut u8) -> i32;
    pub(crate) fn mm_publish_loan(writer: *mut ShimWriter, bytes: *mut u8) -> i32;
    pub(crate) fn mm_discard_loan(writer: *mut ShimWriter, bytes: *mut u8) -> i32;
    pub(crate) fn mm_writer_qos(writer: *mut ShimWriter, qos: *mut ShimQos) -> i32;
    pub(crate) fn mm_writer_counterparts(writer: *mut ShimWriter, counterparts: *mut Counterparts) -> i32;
    pub(crate) fn mm_reader_open(
        session: *mut ShimSession,
        topic: *const c_char,
        message_type: ShimType,
        qos: *const ShimQos,
        delivery: i32,
        loans: i32,
        on_message: OnMessage,
        on_lent: OnLent,
        context: *mut c_void,
        reader: *mut *mut ShimReader,
        reason: *mut Reason,
    ) -> i32;
    pub(crate) fn mm_reader_qos(reader: *mut ShimReader, qos: *mut ShimQos) -> i32;
    pub(crate) fn mm_reader_counterparts(reader: *mut ShimReader, counterparts: *mut Counterparts) -> i32;
    pub(crate) fn mm_waitset_open(waitset: *mut *mut ShimWaitSet) -> i32;
}
