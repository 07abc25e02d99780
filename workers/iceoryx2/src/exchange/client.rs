//! A client: requests from the thread that has them due, responses on a thread that waits or polls for them.
//!
//! Each request sent is a pending response, which the one thread hands to the other behind the send; nothing is locked but
//! iceoryx2's own port.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use iceoryx2::node::Node;
use iceoryx2::pending_response::PendingResponse;
use iceoryx2::port::client::{Client, RequestSendError};
use iceoryx2::port::notifier::Notifier;
use iceoryx2::request_mut::RequestMut;
use iceoryx2::request_mut_uninit::RequestMutUninit;
use middlemark_runtime::{Exchange, Matched, MiddlewareError, Publish, PublishError, PublishInPlace, Receiver};

use crate::exchange::{self, Calls, Locking};
use crate::publisher::{not_loaned, not_notified, not_sent};
use crate::receive_loop::Inbox;
use crate::service::{Events, Kind};

type Pending = PendingResponse<Locking, [u8], u16, [u8], ()>;
type Loan = RequestMutUninit<Locking, [MaybeUninit<u8>], u16, [u8], ()>;

/// What both threads of a client know.
#[derive(Default)]
struct Progress {
    /// Whether a request is being sent whose pending response is not handed over yet.
    is_sending: AtomicBool,
    /// The pending responses.
    pending: AtomicUsize,
}

/// What wakes whom for a client's requests.
pub(crate) struct Bells {
    pub(crate) server: Notifier<Kind>,
    /// The client's own receiving thread, to give requests up.
    pub(crate) own: Notifier<Kind>,
}

impl Bells {
    pub(crate) fn new(node: &Node<Kind>, exchange: &Exchange<'_>, own: &Events) -> Result<Bells, MiddlewareError> {
        let server = exchange::events_of_server(node, exchange)?;
        Ok(Bells {
            server: server.notifier_builder().create()?,
            own: own.notifier_builder().create()?,
        })
    }
}

/// Makes the two ends of a client.
pub(crate) fn open(
    calls: &Calls<Locking>,
    bells: Option<Bells>,
    exchange: &Exchange<'_>,
    responses: Receiver,
    found: Matched,
) -> Result<(Requests, Responses), MiddlewareError> {
    let port = calls
        .client_builder()
        .initial_max_slice_len(exchange.requests.size_bytes)
        .create()?;
    let (to_receive, sent) = mpsc::sync_channel(exchange::active_requests(exchange.outstanding));
    let progress = Arc::new(Progress::default());
    let most = exchange::awaited_requests(exchange.outstanding);
    let requests = Requests {
        port,
        index: exchange.requests.index,
        to_receive,
        progress: Arc::clone(&progress),
        most,
        bells,
        found,
    };
    let responses = Responses {
        sent,
        pending: Vec::with_capacity(exchange::active_requests(exchange.outstanding)),
        most,
        progress,
        receiver: responses,
    };
    Ok((requests, responses))
}

/// A client's requests.
pub(crate) struct Requests {
    port: Client<Locking, [u8], u16, [u8], ()>,
    index: u16,
    to_receive: SyncSender<Pending>,
    progress: Arc<Progress>,
    /// Beyond so many pending responses the oldest are given up.
    most: usize,
    /// None where both ends poll.
    bells: Option<Bells>,
    found: Matched,
}

// SAFETY: the notifiers of the plain service count their owners without atomics; they are this one's alone, and only one
// thread has it. All else may be sent anyway.
unsafe impl Send for Requests {}

impl Requests {
    #[inline]
    fn loan(&self, size_bytes: usize) -> Result<Loan, PublishError> {
        let mut loan = self.port.loan_slice_uninit(size_bytes).map_err(not_loaned)?;
        *loan.user_header_mut() = self.index;
        Ok(loan)
    }

    #[inline]
    fn hand_over(&self, request: RequestMut<Locking, [u8], u16, [u8], ()>) -> Result<(), PublishError> {
        self.progress.is_sending.store(true, Ordering::Release);
        let has_found = |sent: &Result<Pending, RequestSendError>| sent.as_ref().is_ok_and(reaches_server);
        let sent = self.found.by(|| request.send(), has_found);
        let kept = sent.map_err(refused).and_then(|pending| self.keep(pending));
        self.progress.is_sending.store(false, Ordering::Release);
        let pending = kept?;
        let Some(bells) = &self.bells else { return Ok(()) };
        if pending > self.most {
            bells.own.notify().map_err(not_notified)?;
        }
        bells.server.notify().map(drop).map_err(not_notified)
    }

    /// Hands a pending response to the receiving thread; returns how many there are with it.
    #[inline]
    fn keep(&self, pending: Pending) -> Result<usize, PublishError> {
        if !reaches_server(&pending) {
            return Err(PublishError::NotConnected);
        }
        let before = self.progress.pending.fetch_add(1, Ordering::Relaxed);
        // There is room, as iceoryx2 has refused what would be one too many; the other end is gone only where it failed.
        self.to_receive
            .try_send(pending)
            .map_err(|_| PublishError::NotConnected)?;
        Ok(before + 1)
    }
}

impl PublishInPlace for Requests {
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        let mut loan = self.loan(size_bytes)?;
        write(loan.payload_mut());
        // SAFETY: `write` has initialised every byte.
        self.hand_over(unsafe { loan.assume_init() })
    }
}

impl Publish for Requests {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let loan = self.loan(message.len())?;
        self.hand_over(loan.write_from_slice(message))
    }
}

fn reaches_server(pending: &Pending) -> bool {
    pending.number_of_server_connections() > 0
}

fn refused(error: RequestSendError) -> PublishError {
    match error {
        RequestSendError::ExceedsMaxActiveRequests => PublishError::Full,
        RequestSendError::SendError(error) => not_sent(error),
    }
}

/// A client's responses.
pub(crate) struct Responses {
    sent: mpsc::Receiver<Pending>,
    /// The oldest first.
    pending: Vec<Pending>,
    /// Beyond so many the oldest are given up; they are overdue, as no more may be under way.
    most: usize,
    progress: Arc<Progress>,
    receiver: Receiver,
}

impl Inbox for Responses {
    #[inline]
    fn empty(&mut self) -> Result<bool, MiddlewareError> {
        let mut found = false;
        loop {
            let is_sending = self.progress.is_sending.load(Ordering::Acquire);
            self.pending.extend(self.sent.try_iter());
            found |= self.take_all()?;
            // The response that an event was for may be to the request that is just being handed over.
            if !is_sending {
                return Ok(found);
            }
            thread::yield_now();
        }
    }
}

impl Responses {
    /// Hands over each response that has come, and gives up what is beyond the most.
    #[inline]
    fn take_all(&mut self) -> Result<bool, MiddlewareError> {
        let (before, receiver) = (self.pending.len(), &self.receiver);
        let mut failure = None;
        self.pending.retain(|pending| match pending.receive() {
            Ok(None) => true,
            Ok(Some(response)) => {
                receiver.receive(response.payload());
                false
            }
            Err(error) => {
                failure = Some(error);
                true
            }
        });
        let found = self.pending.len() < before;
        self.pending.drain(..self.pending.len().saturating_sub(self.most));
        self.progress
            .pending
            .fetch_sub(before - self.pending.len(), Ordering::Relaxed);
        failure.map_or(Ok(found), |error| Err(error.into()))
    }
}
