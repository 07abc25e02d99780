//! A channel's two services of iceoryx2: the data, and the events that wake its subscribers.
//!
//! The only place where neutral QoS becomes iceoryx2's; every process of a trial makes the same of the same channel.

use std::time::Duration;

use iceoryx2::node::Node;
use iceoryx2::port::backpressure_strategy::BackpressureStrategy;
use iceoryx2::prelude::{PortFactory, ServiceName, ipc};
use iceoryx2::service::builder::event::EventOpenError;
use iceoryx2::service::builder::publish_subscribe::PublishSubscribeOpenError;
use iceoryx2::service::port_factory::{event, publish_subscribe};
use middlemark_contract::{Congestion, Durability, History};
use middlemark_runtime::{Channel, MiddlewareError};

use crate::place::UNFIT;

/// The plain kind of service, as iceoryx2's examples and benchmarks have it: its ports lock nothing.
pub(crate) type Kind = ipc::Service;
pub(crate) type Data = publish_subscribe::PortFactory<Kind, [u8], ()>;
pub(crate) type Events = event::PortFactory<Kind>;

/// iceoryx2's default for the nodes that may open a service; more applications than that raise it.
const NODES: usize = 20;

/// How often a service is asked for that counts as missing.
const ATTEMPTS: usize = 3;

/// What a channel's QoS means for its services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Demands {
    /// Messages that each subscriber's buffer holds.
    pub(crate) buffer_messages: usize,
    /// Messages that a late joiner gets.
    pub(crate) history_messages: usize,
    /// Whether a full buffer gives up its oldest message for the newest.
    pub(crate) overflows: bool,
    /// What a publisher does where the buffer is full and does not overflow.
    pub(crate) backpressure: BackpressureStrategy,
    /// How long it retries then, before it gives the message up for that subscriber.
    pub(crate) patience: Duration,
}

impl Demands {
    pub(crate) fn of(channel: &Channel) -> Demands {
        let qos = &channel.qos;
        let buffer_messages = channel.queued_messages();
        Demands {
            buffer_messages,
            history_messages: match qos.durability {
                Durability::Volatile => 0,
                Durability::TransientLocal => buffer_messages,
            },
            overflows: matches!(qos.history, History::KeepLast { .. }),
            backpressure: match qos.congestion {
                Congestion::Block => BackpressureStrategy::RetryUntilDelivered,
                Congestion::Drop => BackpressureStrategy::DiscardData,
            },
            patience: Duration::from_nanos(qos.patience_ns),
        }
    }
}

/// Opens or makes the service that carries a channel's messages.
pub(crate) fn data(node: &Node<Kind>, channel: &Channel, demands: &Demands) -> Result<Data, MiddlewareError> {
    let name = name(&channel.topic)?;
    let service = opened(PublishSubscribeOpenError::DoesNotExist, || {
        node.service_builder(&name)
            .publish_subscribe::<[u8]>()
            .max_publishers(channel.publishers.len())
            .max_subscribers(channel.subscribers.len())
            .max_nodes(nodes(channel.publishers.len() + channel.subscribers.len()))
            .subscriber_max_buffer_size(demands.buffer_messages)
            .history_size(demands.history_messages)
            .enable_safe_overflow(demands.overflows)
            .open_or_create()
    });
    service.map_err(|error| format!("iceoryx2 could not open the service of {}: {error}", channel.topic).into())
}

/// Opens or makes the service that wakes a channel's subscribers.
pub(crate) fn events(node: &Node<Kind>, channel: &Channel) -> Result<Events, MiddlewareError> {
    let (publishers, subscribers) = (channel.publishers.len(), channel.subscribers.len());
    // Each subscriber has a notifier too, for the end of its session.
    events_named(node, &channel.topic, publishers + subscribers, subscribers)
}

/// Opens or makes events for so many of each.
pub(crate) fn events_named(
    node: &Node<Kind>,
    topic: &str,
    notifiers: usize,
    listeners: usize,
) -> Result<Events, MiddlewareError> {
    let name = name(topic)?;
    let service = opened(EventOpenError::DoesNotExist, || {
        node.service_builder(&name)
            .event()
            .max_notifiers(notifiers)
            .max_listeners(listeners)
            .max_nodes(nodes(notifiers))
            .open_or_create()
    });
    service.map_err(|error| format!("iceoryx2 could not open the events of {topic}: {error}").into())
}

/// Opens or makes a service, again where it counts as missing. Where another process was the first to make it, and a second
/// (`creation_timeout`) has passed by then, iceoryx2 does not look again and reports its first error: it was not there.
///
/// # Errors
/// Any other error at once, or that it is missing for the last time.
pub(crate) fn opened<S, M, E: From<M> + PartialEq>(
    missing: M,
    open_or_create: impl Fn() -> Result<S, E>,
) -> Result<S, E> {
    let missing = E::from(missing);
    let mut service = open_or_create();
    for _ in 1..ATTEMPTS {
        if service.as_ref().err() != Some(&missing) {
            break;
        }
        service = open_or_create();
    }
    service
}

/// What a service is really made with, in words.
pub(crate) fn words(data: &Data, demands: &Demands) -> String {
    let made = data.static_config();
    format!(
        "subscriber_max_buffer_size {}, history_size {}, safe overflow {}, backpressure {:?} for {} ms, max_publishers {}, \
         max_subscribers {}, subscriber_max_borrowed_samples {}, max_nodes {}",
        made.subscriber_max_buffer_size(),
        made.history_size(),
        made.has_safe_overflow(),
        demands.backpressure,
        demands.patience.as_millis(),
        made.max_publishers(),
        made.max_subscribers(),
        made.subscriber_max_borrowed_samples(),
        made.max_nodes(),
    )
}

pub(crate) fn name(topic: &str) -> Result<ServiceName, MiddlewareError> {
    let name = ServiceName::new(topic);
    name.map_err(|_| format!("'{topic}' can't be the name of a service: {UNFIT}").into())
}

/// The nodes that may open a service with so many endpoints.
pub(crate) fn nodes(endpoints: usize) -> usize {
    NODES.max(endpoints)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;
    use std::net::{Ipv4Addr, SocketAddr};

    use middlemark_contract::Qos;
    use middlemark_runtime::ChannelEndpoint;

    use super::*;

    /// A channel of one publisher and one subscriber that keeps its last three messages.
    pub(crate) fn channel() -> Channel {
        let endpoint = ChannelEndpoint {
            application: "a".into(),
            socket: SocketAddr::from((Ipv4Addr::LOCALHOST, 1)),
        };
        Channel {
            topic: "t".into(),
            number: 0,
            size_bytes: 64,
            recorded: None,
            rate_hz: 1.0,
            qos: Qos {
                history: History::KeepLast { depth: 3 },
                congestion: Congestion::Drop,
                ..Qos::RELIABLE
            },
            publishers: vec![endpoint.clone()],
            subscribers: vec![endpoint],
            index: 0,
        }
    }

    fn demands(change: impl FnOnce(&mut Qos)) -> Demands {
        let mut channel = channel();
        change(&mut channel.qos);
        Demands::of(&channel)
    }

    /// What comes of a service that is missing so often, and how often it was asked for.
    fn opened_after(missing: usize) -> (Result<(), &'static str>, usize) {
        let asked = Cell::new(0);
        let service = opened("missing", || {
            asked.set(asked.get() + 1);
            if asked.get() > missing { Ok(()) } else { Err("missing") }
        });
        (service, asked.get())
    }

    #[test]
    fn a_service_that_counts_as_missing_is_asked_for_again_within_a_bound() {
        assert_eq!(opened_after(0), (Ok(()), 1));
        assert_eq!(opened_after(1), (Ok(()), 2));
        assert_eq!(opened_after(ATTEMPTS), (Err("missing"), ATTEMPTS));
    }

    #[test]
    fn another_error_of_a_service_stands_at_once() {
        let asked = Cell::new(0);
        let service: Result<(), _> = opened("missing", || {
            asked.set(asked.get() + 1);
            Err("corrupted")
        });
        assert_eq!((service, asked.get()), (Err("corrupted"), 1));
    }

    #[test]
    fn only_keep_last_overflows() {
        let last = demands(|_| ());
        let all = demands(|qos| (qos.history, qos.queue_bytes) = (History::KeepAll, 640));
        assert!(last.overflows);
        assert!(!all.overflows);
        assert_eq!((last.buffer_messages, all.buffer_messages), (3, 10));
    }

    #[test]
    fn a_late_joiner_gets_what_the_history_holds() {
        let late = demands(|qos| qos.durability = Durability::TransientLocal);
        assert_eq!(late.history_messages, 3);
    }
}
