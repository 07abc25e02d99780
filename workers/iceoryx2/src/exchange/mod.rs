//! An exchange as a service of iceoryx2's request-response pattern, with the events that wake its server and its clients.
//!
//! It names and sizes; `server` answers, `client` asks and has the responses.

pub(crate) mod client;
pub(crate) mod server;

use iceoryx2::node::Node;
use iceoryx2::prelude::{PortFactory, Service, ipc_threadsafe};
use iceoryx2::service::builder::request_response::RequestResponseOpenError;
use iceoryx2::service::port_factory::request_response;
use middlemark_runtime::{Channel, Exchange, MiddlewareError};

use crate::service::{self, Events, Kind};

/// The kind of service of a client, which sends on one thread and receives on another: its ports lock.
pub(crate) type Locking = ipc_threadsafe::Service;

/// The service of one server: bytes for bytes, each request with the index of its client.
pub(crate) type Calls<K> = request_response::PortFactory<K, [u8], u16, [u8], ()>;

/// As shipped (`max_active_requests_per_client`).
const SHIPPED_ACTIVE_REQUESTS: usize = 4;

/// The most requests beyond their timeout that a client has active.
const MOST_OVERDUE: usize = 64;

/// The requests that iceoryx2 lets a client wait for: those that may be under way, and as many again that are overdue, within
/// bounds, as iceoryx2 looks at each when it takes memory back.
fn active_requests(outstanding: u32) -> usize {
    outstanding as usize + overdue_requests(outstanding)
}

fn overdue_requests(outstanding: u32) -> usize {
    (outstanding as usize).clamp(SHIPPED_ACTIVE_REQUESTS - 1, MOST_OVERDUE)
}

/// The requests that a client does wait for; beyond them it gives up the oldest. The rest is room for those that are sent
/// meanwhile.
fn awaited_requests(outstanding: u32) -> usize {
    active_requests(outstanding) - overdue_requests(outstanding).div_ceil(4)
}

/// Opens or makes the service that carries an exchange.
pub(crate) fn calls<K: Service>(node: &Node<K>, exchange: &Exchange<'_>) -> Result<Calls<K>, MiddlewareError> {
    let name = service::name(&exchange.name())?;
    let service = service::opened(RequestResponseOpenError::DoesNotExist, || {
        node.service_builder(&name)
            .request_response::<[u8], [u8]>()
            .request_user_header::<u16>()
            .max_clients(exchange.clients().len())
            .max_servers(1)
            .max_nodes(service::nodes(1 + exchange.clients().len()))
            .max_active_requests_per_client(active_requests(exchange.outstanding))
            .max_loaned_requests(1)
            .max_response_buffer_size(1)
            .max_borrowed_responses_per_pending_response(1)
            .open_or_create()
    });
    service.map_err(|error| format!("iceoryx2 could not open the service {}: {error}", exchange.name()).into())
}

/// Opens or makes the events that wake the server.
pub(crate) fn events_of_server(node: &Node<Kind>, exchange: &Exchange<'_>) -> Result<Events, MiddlewareError> {
    // The server has a notifier too, for the end of its session.
    service::events_named(node, &exchange.name(), 1 + exchange.clients().len(), 1)
}

/// Opens or makes the events that wake one client.
pub(crate) fn events_of_client(
    node: &Node<Kind>,
    exchange: &Exchange<'_>,
    client: u16,
) -> Result<Events, MiddlewareError> {
    // The server's, the client's for the end of its session, and its requests'.
    service::events_named(node, &format!("{}_{client}", exchange.responses.topic), 3, 1)
}

/// What a service is really made with, in words.
pub(crate) fn words<K: Service>(calls: &Calls<K>) -> String {
    let made = calls.static_config();
    format!(
        "request-response, max_active_requests_per_client {}, max_clients {}, max_servers {}, max_response_buffer_size {}, \
         max_loaned_requests {}, safe overflow of requests {}, fire and forget {}, max_nodes {}",
        made.max_active_requests_per_client(),
        made.max_clients(),
        made.max_servers(),
        made.max_response_buffer_size(),
        made.max_loaned_requests(),
        made.has_safe_overflow_for_requests(),
        made.does_support_fire_and_forget_requests(),
        made.max_nodes(),
    )
}

/// The most shared memory that one side of all exchanges of a stream takes: the clients for its requests, or the servers for
/// its responses. iceoryx2 reserves it for each request that may be active twice, as memory comes back only later.
pub(crate) fn memory_bytes(channel: &Channel, carries_responses: bool, outstanding: u32) -> u64 {
    let active = 2 * active_requests(outstanding);
    if !carries_responses {
        return (channel.publishers.len() * (active + 1) * channel.size_bytes) as u64;
    }
    // A response is in its client's buffer, borrowed by it, or loaned by the server.
    let (clients, responses) = (channel.subscribers.len(), active * 3);
    let clients_of_one = clients.div_ceil(channel.publishers.len().max(1));
    // Each connection has a channel for each request, and each channel a byte for each response of the server.
    let connection_bytes = (active + 1) * responses * clients_of_one;
    (clients * (responses * channel.size_bytes + connection_bytes)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_waits_for_overdue_requests_too_within_bounds() {
        let active: Vec<_> = [1, 8, 64, 1024].map(active_requests).into();
        assert_eq!(active, [SHIPPED_ACTIVE_REQUESTS, 16, 128, 1088]);
        let awaited: Vec<_> = [1, 8, 64, 1024].map(awaited_requests).into();
        assert_eq!(awaited, [3, 14, 112, 1072]);
    }
}
