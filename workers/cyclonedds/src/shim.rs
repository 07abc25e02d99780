//! The shim (`shim/cyclone.h`) as Rust sees it, beside what all shims have alike; nothing acts here.

use std::ffi::{c_char, c_void};

use middlemark_dds::exchange::Guid;
use middlemark_dds::security::ShimProperty;
use middlemark_dds::{Counterparts, OnMessage, Policies, ShimReader, ShimWaitSet};

/// `DDS_LENGTH_UNLIMITED`.
pub(crate) const UNLIMITED: i32 = -1;

/// `DDS_RETCODE_TIMEOUT`.
pub(crate) const TIMED_OUT: i32 = -10;

unsafe extern "C" {
    pub(crate) fn mm_open(
        domain: u32,
        configuration: *const c_char,
        properties: *const ShimProperty,
        count: usize,
        domain_entity: *mut i32,
    ) -> i32;
    pub(crate) fn mm_has_property(participant: i32, property: *const ShimProperty) -> i32;
    pub(crate) fn mm_delete(entity: i32) -> i32;
    pub(crate) fn mm_writer(
        participant: i32,
        topic: *const c_char,
        type_name: *const c_char,
        qos: *const Policies,
        batching: i32,
        matching: *const c_void,
    ) -> i32;
    pub(crate) fn mm_writer_guid(writer: i32, guid: *mut Guid) -> i32;
    pub(crate) fn mm_write(writer: i32, bytes: *const u8, size: u32) -> i32;
    pub(crate) fn mm_flush(writer: i32) -> i32;
    pub(crate) fn mm_is_batching(writer: i32) -> i32;
    pub(crate) fn mm_read_back(entity: i32, qos: *mut Policies) -> i32;
    pub(crate) fn mm_counterparts_of(entity: i32, is_writer: i32, counterparts: *mut Counterparts) -> i32;
    pub(crate) fn mm_loans_shared_memory(writer: i32) -> i32;
    pub(crate) fn mm_reader_open(
        participant: i32,
        topic: *const c_char,
        type_name: *const c_char,
        qos: *const Policies,
        size: u32,
        batch: u32,
        delivery: i32,
        on_message: OnMessage,
        context: *mut c_void,
        reader: *mut *mut ShimReader,
    ) -> i32;
    pub(crate) fn mm_reader_entity(reader: *const ShimReader) -> i32;
    pub(crate) fn mm_waitset_open(participant: i32, waitset: *mut *mut ShimWaitSet) -> i32;
}
