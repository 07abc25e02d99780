//! What the participant tells of matches: a thread waits for its events, tells publishers, and keeps count for later.
//!
//! The library has no callback for them; `session` asks here whom its endpoints have met.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll};

use futures_util::StreamExt;
use middlemark_dds::{Counterparts, Sleeper, Woken};
use middlemark_runtime::{Matched, MiddlewareError, clock};
use rustdds::qos::QosPolicyId;
use rustdds::{
    DomainParticipant, DomainParticipantStatusEvent, DomainParticipantStatusListener, GUID, QosPolicies, StatusEvented,
};

/// What is known of one endpoint.
#[derive(Default)]
struct Known {
    counterparts: Counterparts,
    matched: Option<Matched>,
    /// The first match, where nobody was there yet to be told.
    since_ns: Option<i64>,
}

type Endpoints = Arc<Mutex<BTreeMap<GUID, Known>>>;

/// The thread that waits for the participant's events.
pub(crate) struct Status {
    endpoints: Endpoints,
    thread: Woken,
}

impl Status {
    pub(crate) fn watch(participant: &DomainParticipant) -> Result<Status, MiddlewareError> {
        let endpoints = Endpoints::default();
        let listener = participant.status_listener();
        let notes = Arc::clone(&endpoints);
        let thread = Woken::start("status", move |sleeper| {
            follow(&listener, sleeper, &notes);
            Ok(())
        })?;
        Ok(Status { endpoints, thread })
    }

    /// Tells this from now on of the writer's first match, which may have been already.
    pub(crate) fn tell(&self, writer: GUID, matched: Matched) {
        let mut endpoints = locked(&self.endpoints);
        let known = endpoints.entry(writer).or_default();
        if let Some(since_ns) = known.since_ns {
            matched.at(since_ns);
        }
        known.matched = Some(matched);
    }

    /// Whom an endpoint has met.
    pub(crate) fn counterparts(&self, endpoint: GUID) -> Counterparts {
        let endpoints = locked(&self.endpoints);
        endpoints
            .get(&endpoint)
            .map(|known| known.counterparts)
            .unwrap_or_default()
    }

    /// Ends the thread.
    pub(crate) fn close(self) -> Result<(), MiddlewareError> {
        self.thread.close()
    }
}

fn locked(endpoints: &Endpoints) -> MutexGuard<'_, BTreeMap<GUID, Known>> {
    endpoints.lock().unwrap_or_else(PoisonError::into_inner)
}

fn follow(listener: &DomainParticipantStatusListener, sleeper: &Sleeper, endpoints: &Endpoints) {
    let mut events = listener.as_async_status_stream();
    let mut context = TaskContext::from_waker(sleeper.waker());
    while !sleeper.has_ended() {
        match events.poll_next_unpin(&mut context) {
            Poll::Ready(Some(event)) => note(&mut locked(endpoints), event),
            Poll::Ready(None) => return, // the participant is gone
            Poll::Pending => sleeper.sleep(),
        }
    }
}

fn note(endpoints: &mut BTreeMap<GUID, Known>, event: DomainParticipantStatusEvent) {
    match event {
        DomainParticipantStatusEvent::RemoteReaderMatched { local_writer, .. } => {
            let known = endpoints.entry(local_writer).or_default();
            known.counterparts.matched += 1;
            match &known.matched {
                Some(matched) => matched.now(),
                None => known.since_ns = known.since_ns.or_else(|| Some(clock::now_ns())),
            }
        }
        DomainParticipantStatusEvent::RemoteWriterMatched { local_reader, .. } => {
            endpoints.entry(local_reader).or_default().counterparts.matched += 1;
        }
        DomainParticipantStatusEvent::RemoteReaderQosIncompatible {
            local_writer: local,
            requested_qos,
            offered_qos,
            ..
        }
        | DomainParticipantStatusEvent::RemoteWriterQosIncompatible {
            local_reader: local,
            requested_qos,
            offered_qos,
            ..
        } => {
            let counterparts = &mut endpoints.entry(local).or_default().counterparts;
            counterparts.incompatible += 1;
            counterparts.policy = policy(&offered_qos, &requested_qos);
        }
        _ => {}
    }
}

/// The standard's number of the policy that keeps these apart; 0: none that is known.
fn policy(offered: &QosPolicies, requested: &QosPolicies) -> i32 {
    match offered.compliance_failure_wrt(requested) {
        Some(QosPolicyId::Durability) => 2,
        Some(QosPolicyId::Presentation) => 3,
        Some(QosPolicyId::Deadline) => 4,
        Some(QosPolicyId::LatencyBudget) => 5,
        Some(QosPolicyId::Ownership) => 6,
        Some(QosPolicyId::Liveliness) => 8,
        Some(QosPolicyId::Reliability) => 11,
        Some(QosPolicyId::DestinationOrder) => 12,
        Some(QosPolicyId::Representation) => 23,
        _ => 0,
    }
}
