//! What the library tells of an endpoint, by listeners on its own thread: whom it met, and that something came.
//!
//! Nothing is taken or written there, as both would wait for that thread; `reader` has the thread that is woken.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

use dust_dds::dds_async::data_reader::DataReaderAsync;
use dust_dds::dds_async::data_writer::DataWriterAsync;
use dust_dds::infrastructure::qos_policy::QosPolicyId;
use dust_dds::infrastructure::status::{
    OfferedIncompatibleQosStatus, PublicationMatchedStatus, RequestedIncompatibleQosStatus, StatusKind,
    SubscriptionMatchedStatus,
};
use dust_dds::publication::data_writer_listener::DataWriterListener;
use dust_dds::subscription::data_reader_listener::DataReaderListener;
use middlemark_dds::Counterparts;
use middlemark_runtime::Matched;

use crate::message::Octets;

/// What a writer's listener is told of.
pub(crate) const OF_WRITERS: [StatusKind; 2] = [StatusKind::PublicationMatched, StatusKind::OfferedIncompatibleQos];

/// What a reader's listener is told of.
pub(crate) const OF_READERS: [StatusKind; 3] = [
    StatusKind::DataAvailable,
    StatusKind::SubscriptionMatched,
    StatusKind::RequestedIncompatibleQos,
];

/// Whom an endpoint has met, as its listener was told: calls that ask for whom it refused panic in the library (0.16.0).
#[derive(Clone, Default)]
pub(crate) struct Met(Arc<Mutex<Counterparts>>);

impl Met {
    pub(crate) fn counterparts(&self) -> Counterparts {
        *self.locked()
    }

    fn matched(&self, total: i32) {
        self.locked().matched = total;
    }

    fn refused(&self, total: i32, policy: QosPolicyId) {
        let mut counterparts = self.locked();
        (counterparts.incompatible, counterparts.policy) = (total, policy);
    }

    fn locked(&self) -> MutexGuard<'_, Counterparts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A writer's.
pub(crate) struct OfWriter {
    pub(crate) met: Met,
    pub(crate) matched: Option<Matched>,
}

impl DataWriterListener<Octets> for OfWriter {
    fn on_publication_matched(
        &mut self,
        _writer: DataWriterAsync<Octets>,
        status: PublicationMatchedStatus,
    ) -> impl Future<Output = ()> + Send {
        if let Some(matched) = &self.matched {
            matched.now();
        }
        self.met.matched(status.total_count);
        ready(())
    }

    fn on_offered_incompatible_qos(
        &mut self,
        _writer: DataWriterAsync<Octets>,
        status: OfferedIncompatibleQosStatus,
    ) -> impl Future<Output = ()> + Send {
        self.met.refused(status.total_count, status.last_policy_id);
        ready(())
    }
}

/// A reader's.
pub(crate) struct OfReader {
    pub(crate) met: Met,
    /// Of the reader's thread, once that is there.
    pub(crate) waker: Arc<OnceLock<Waker>>,
}

impl DataReaderListener<Octets> for OfReader {
    fn on_data_available(&mut self, _reader: DataReaderAsync<Octets>) -> impl Future<Output = ()> + Send {
        if let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
        ready(())
    }

    fn on_subscription_matched(
        &mut self,
        _reader: DataReaderAsync<Octets>,
        status: SubscriptionMatchedStatus,
    ) -> impl Future<Output = ()> + Send {
        self.met.matched(status.total_count);
        ready(())
    }

    fn on_requested_incompatible_qos(
        &mut self,
        _reader: DataReaderAsync<Octets>,
        status: RequestedIncompatibleQosStatus,
    ) -> impl Future<Output = ()> + Send {
        self.met.refused(status.total_count, status.last_policy_id);
        ready(())
    }
}
