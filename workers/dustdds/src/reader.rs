//! A reader's samples, as a thread of the worker takes them: several at once, each handed over as the library gives it.

use std::sync::{Arc, OnceLock};
use std::task::Waker;

use dust_dds::infrastructure::error::DdsError;
use dust_dds::infrastructure::sample_info::{ANY_INSTANCE_STATE, ANY_SAMPLE_STATE, ANY_VIEW_STATE, Sample};
use dust_dds::subscription::data_reader::DataReader;
use middlemark_dds::{Inbox, Taker};
use middlemark_runtime::MiddlewareError;

use crate::message::Octets;

/// Samples of together so many bytes are taken at once, so that none waits long for the copying of the others.
const BATCH_BYTES: usize = 64 << 10;

/// All that the thread owns.
pub(crate) struct Samples {
    reader: DataReader<Octets>,
    /// Where the reader's listener looks for the thread.
    waker: Arc<OnceLock<Waker>>,
    taker: Taker,
    /// So many are taken at once.
    batch: usize,
}

impl Samples {
    pub(crate) fn new(
        reader: DataReader<Octets>,
        size_bytes: usize,
        waker: Arc<OnceLock<Waker>>,
        taker: Taker,
    ) -> Samples {
        Samples {
            reader,
            waker,
            taker,
            batch: (BATCH_BYTES / size_bytes).clamp(1, 64),
        }
    }

    fn batch(&self) -> Result<Vec<Sample<Octets>>, DdsError> {
        let most = self.batch as i32;
        let taken = self
            .reader
            .take(most, ANY_SAMPLE_STATE, ANY_VIEW_STATE, ANY_INSTANCE_STATE);
        match taken {
            Err(DdsError::NoData) => Ok(Vec::new()),
            taken => taken,
        }
    }
}

impl Inbox for Samples {
    fn wakes(&self, waker: &Waker) {
        self.waker.get_or_init(|| waker.clone());
    }

    /// Whoever comes after a batch that was not full wakes the thread, which asks no further time in vain: it costs a turn of
    /// the library's thread.
    fn take(&self) -> Result<bool, MiddlewareError> {
        let samples = self.batch()?;
        let is_full = samples.len() == self.batch;
        for message in samples.into_iter().filter_map(|sample| sample.data) {
            self.taker.take(&message.octets);
        }
        Ok(is_full)
    }
}
