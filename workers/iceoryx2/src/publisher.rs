//! Publishing: written in place in a loan, or copied into one; then the subscribers are woken where they wait.
//!
//! One publisher and its notifier; the services they belong to are `service`'s.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use iceoryx2::node::Node;
use iceoryx2::port::notifier::{Notifier, NotifierNotifyError};
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::{BackpressureAction, BackpressureInfo, LoanError, SendError};
use iceoryx2::prelude::BackpressureStrategy;
use iceoryx2::sample_mut::SampleMut;
use iceoryx2::sample_mut_uninit::SampleMutUninit;
use middlemark_runtime::{Channel, Matched, MiddlewareError, Publish, PublishError, PublishInPlace};

use crate::service::{Data, Demands, Events, Kind};

/// A publisher with what wakes its subscribers.
pub(crate) struct NotifyingPublisher {
    publisher: Publisher<Kind, [u8], ()>,
    /// None where the subscribers poll.
    notifier: Option<Notifier<Kind>>,
    node: Arc<Node<Kind>>,
    /// Set when a subscriber's buffer stayed full for the whole patience.
    gave_up: Arc<AtomicBool>,
    matched: Matched,
}

// SAFETY: the ports of the plain service count their owners, themselves and their loans, without atomics. No loan outlives
// the call that took it, so that the ports are the only owners whenever a publisher is moved, and only one thread has it.
unsafe impl Send for NotifyingPublisher {}

impl NotifyingPublisher {
    pub(crate) fn new(
        node: &Arc<Node<Kind>>,
        data: &Data,
        events: Option<&Events>,
        channel: &Channel,
        demands: &Demands,
        matched: Matched,
    ) -> Result<NotifyingPublisher, MiddlewareError> {
        let mut builder = data
            .publisher_builder()
            .initial_max_slice_len(channel.size_bytes)
            .backpressure_strategy(demands.backpressure);
        let gave_up = Arc::new(AtomicBool::new(false));
        if demands.backpressure == BackpressureStrategy::RetryUntilDelivered {
            let (gave_up, patience) = (Arc::clone(&gave_up), demands.patience);
            builder = builder.set_backpressure_handler(move |info| bounded_retry(info, patience, &gave_up));
        }
        Ok(NotifyingPublisher {
            publisher: builder.create()?,
            notifier: events.map(|events| events.notifier_builder().create()).transpose()?,
            node: Arc::clone(node),
            gave_up,
            matched,
        })
    }

    #[inline]
    fn loan(&self, size_bytes: usize) -> Result<SampleMutUninit<Kind, [MaybeUninit<u8>], ()>, PublishError> {
        self.publisher.loan_slice_uninit(size_bytes).map_err(not_loaned)
    }

    #[inline]
    fn hand_over(&self, message: SampleMut<Kind, [u8], ()>) -> Result<(), PublishError> {
        let has_found = |sent: &Result<usize, SendError>| matches!(sent, Ok(1..));
        let receivers = self.matched.by(|| message.send(), has_found).map_err(not_sent)?;
        if self.gave_up.swap(false, Relaxed) {
            // A subscriber that was killed stays connected until someone cleans up after its process.
            self.node.try_cleanup_dead_nodes();
            if receivers == 0 {
                return Err(PublishError::TimedOut);
            }
        }
        match &self.notifier {
            None => Ok(()),
            Some(notifier) => notifier.notify().map(drop).map_err(not_notified),
        }
    }
}

impl PublishInPlace for NotifyingPublisher {
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        let mut loan = self.loan(size_bytes)?;
        write(loan.payload_mut());
        // SAFETY: `write` has initialised every byte.
        let message = unsafe { loan.assume_init() };
        self.hand_over(message)
    }
}

impl Publish for NotifyingPublisher {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let loan = self.loan(message.len())?;
        self.hand_over(loan.write_from_slice(message))
    }
}

/// As shipped, a blocked publisher retries for ever.
fn bounded_retry(info: &BackpressureInfo, patience: Duration, gave_up: &AtomicBool) -> BackpressureAction {
    if info.elapsed_time < patience {
        return BackpressureAction::Retry;
    }
    gave_up.store(true, Relaxed);
    BackpressureAction::DiscardData
}

/// iceoryx2's errors have no numbers; these count the kinds of `SendError`.
pub(crate) fn not_sent(error: SendError) -> PublishError {
    let code = match error {
        SendError::LoanError(error) => return not_loaned(error),
        SendError::ConnectionBrokenSinceSenderNoLongerExists => return PublishError::NotConnected,
        SendError::ConnectionCorrupted => 1,
        SendError::ConnectionError(_) => 2,
        SendError::UnableToDeliver => 3,
        SendError::InternalError => 4,
    };
    PublishError::Failed {
        call: "iceoryx2 send",
        code,
    }
}

pub(crate) fn not_loaned(error: LoanError) -> PublishError {
    match error {
        LoanError::OutOfMemory | LoanError::ExceedsMaxLoans => PublishError::Full,
        LoanError::ExceedsMaxLoanSize | LoanError::InternalFailure => PublishError::Failed {
            call: "iceoryx2 loan",
            code: error as i64,
        },
    }
}

pub(crate) fn not_notified(error: NotifierNotifyError) -> PublishError {
    PublishError::Failed {
        call: "iceoryx2 notify",
        code: error as i64,
    }
}
