//! A writer: a message is copied into memory that the library takes over, and admitted where its history has room.

use dust_dds::infrastructure::error::{DdsError, ReturnCode};
use dust_dds::publication::data_writer::DataWriter;
use middlemark_contract::Congestion;
use middlemark_dds::exchange::Guid;
use middlemark_runtime::{Publish, PublishError};

use crate::message::Octets;

/// The publishing end of one writer.
pub(crate) struct Writer {
    pub(crate) writer: DataWriter<Octets>,
    pub(crate) congestion: Congestion,
}

impl Writer {
    /// What tells it from all other writers: an endpoint's handle is its GUID.
    pub(crate) fn guid(&self) -> Guid {
        self.writer.get_instance_handle().into()
    }
}

impl Publish for Writer {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let message = Octets {
            octets: message.to_vec(),
        };
        match self.writer.write(message, None) {
            Ok(()) => Ok(()),
            Err(DdsError::Timeout) if self.congestion == Congestion::Drop => Err(PublishError::Full),
            Err(DdsError::Timeout) => Err(PublishError::TimedOut),
            Err(error) => Err(PublishError::Failed {
                call: "DataWriter::write",
                code: ReturnCode::from(error).into(),
            }),
        }
    }
}
