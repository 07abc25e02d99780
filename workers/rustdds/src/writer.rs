//! A writer: a message is serialised into memory that the library keeps, and admitted where its window has room.

use std::sync::Arc;

use bytes::Bytes;
use middlemark_contract::Congestion;
use middlemark_dds::exchange::Guid;
use middlemark_runtime::{Publish, PublishError};
use rustdds::dds::result::WriteError;
use rustdds::no_key::DataWriter;
use rustdds::{GUID, RTPSEntity};

use crate::message::{Octets, serialized};

/// The publishing end of one writer. The session keeps the writer too: what is still to be sent or repaired is lost with it.
pub(crate) struct Writer {
    pub(crate) writer: Arc<DataWriter<Bytes, Octets>>,
    pub(crate) congestion: Congestion,
}

impl Writer {
    /// What tells it from all other writers.
    pub(crate) fn guid(&self) -> Guid {
        octets(self.writer.guid())
    }
}

fn octets(guid: GUID) -> Guid {
    let mut octets = Guid::default();
    octets[..12].copy_from_slice(guid.prefix.as_ref());
    octets[12..].copy_from_slice(&guid.entity_id.to_slice());
    octets
}

impl Publish for Writer {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        match self.writer.write(serialized(message), None) {
            Ok(()) => Ok(()),
            Err(WriteError::WouldBlock { .. }) if self.congestion == Congestion::Drop => Err(PublishError::Full),
            Err(WriteError::WouldBlock { .. }) => Err(PublishError::TimedOut),
            Err(_) => Err(PublishError::Failed {
                call: "DataWriter::write",
                code: 0, // it has none
            }),
        }
    }
}
