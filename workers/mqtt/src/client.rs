//! rumqttc's client and the event loop behind it, and a wait for the client that ends.
//!
//! rumqttc's blocking client is the same two and a runtime, but its calls wait without an end. Nothing is published or
//! received here: `publisher` and `link` do that.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use rumqttc::{AsyncClient, ConnectionError, Event, EventLoop, MqttOptions, NetworkOptions};
use tokio::runtime::{Builder, Runtime};

/// The event loop with the runtime that drives it: one thread's, which does nothing else.
pub(crate) struct Connection {
    pub(crate) eventloop: EventLoop,
    runtime: Runtime,
}

/// A client and its connection, which is made when it is first asked for an event.
pub(crate) fn open(
    options: MqttOptions,
    network: NetworkOptions,
    queue_messages: usize,
) -> io::Result<(AsyncClient, Connection)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (client, mut eventloop) = AsyncClient::new(options, queue_messages);
    eventloop.set_network_options(network);
    Ok((client, Connection { eventloop, runtime }))
}

impl Connection {
    /// The next event; none once no client is left.
    pub(crate) fn next(&mut self) -> Option<Result<Event, ConnectionError>> {
        match self.runtime.block_on(self.eventloop.poll()) {
            Err(ConnectionError::RequestsDone) => None,
            event => Some(event),
        }
    }
}

/// Waits on this thread for what the client is to do; none after `patience`.
pub(crate) fn within<T>(patience: Duration, work: impl Future<Output = T>) -> Option<T> {
    let until = Instant::now() + patience;
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(done);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use rumqttc::QoS;

    use super::*;

    #[test]
    fn a_publish_call_that_finds_the_queue_full_waits_for_room_or_for_its_patience() {
        let options = MqttOptions::new("t", "127.0.0.1", 1);
        let (client, connection) = open(options, NetworkOptions::new(), 1).unwrap();
        let publish = || client.publish("t", QoS::AtMostOnce, false, [1]);
        assert!(within(Duration::ZERO, publish()).is_some_and(|done| done.is_ok()));
        assert!(within(Duration::from_millis(1), publish()).is_none());
        thread::scope(|scope| {
            let waits = scope.spawn(|| within(Duration::from_secs(3600), publish()));
            // Whoever waits learns that nobody will make room any more.
            drop(connection);
            assert!(waits.join().unwrap().is_some_and(|done| done.is_err()));
        });
    }
}
