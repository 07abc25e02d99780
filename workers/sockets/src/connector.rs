//! Connects a publisher to its subscribers in the background, as soon as each is there, again and again.
//!
//! The publisher asks for a connection by the subscriber's index and picks it up when it has come; the session ends the
//! thread. How one connection is made, clients use too. It sends nothing.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use socket2::{SockAddr, Socket};

use crate::connection::Kind;
use crate::family::Family;
use crate::settings::queue;

/// A subscriber that is not there yet is tried again after this: short against any first message, long against the
/// microseconds that a refused attempt costs.
const RETRY: Duration = Duration::from_millis(1);

/// Where a session misses more connections than so many, each is tried more seldom: a thousand attempts a millisecond would
/// take the CPU from those whom they wait for.
const FEW: usize = 4;

/// A host that does not answer at all is given up for this attempt; a close never waits longer.
pub(crate) const PATIENCE: Duration = Duration::from_millis(250);

/// Connects a configured socket with buffers no larger than a queue, within `patience`.
pub(crate) fn connect(
    family: &dyn Family,
    address: &SockAddr,
    queue_bytes: u64,
    patience: Duration,
) -> io::Result<Arc<Socket>> {
    family.accept_peer(address)?;
    let socket = queue::open_bounded(family, address, queue_bytes)?;
    match family.kind() {
        Kind::Datagram => socket.connect(address)?,
        Kind::Packet | Kind::Stream => socket.connect_timeout(address, patience)?,
    }
    Ok(Arc::new(socket))
}

/// How many connections all publishers of a session look for.
#[derive(Clone, Default)]
pub(crate) struct Missing(Arc<AtomicUsize>);

impl Missing {
    /// After which each of them is tried again.
    fn pause(&self) -> Duration {
        RETRY * (self.0.load(Relaxed) / FEW).max(1) as u32
    }
}

enum Request {
    /// Connect to the subscriber with this index.
    Connect(usize),
    Stop,
}

/// The publisher's side.
pub(crate) struct Connector<C> {
    requests: Sender<Request>,
    made: Receiver<(usize, C)>,
}

/// The session's side.
pub(crate) struct ConnectorThread {
    requests: Sender<Request>,
    thread: JoinHandle<()>,
}

impl ConnectorThread {
    /// Starts the thread of one publisher; `connect` tries once to connect to the subscriber with an index, and `missing` is
    /// its session's.
    pub(crate) fn start<C: Send + 'static>(
        connect: impl Fn(usize) -> io::Result<C> + Send + 'static,
        missing: Missing,
    ) -> io::Result<(Connector<C>, ConnectorThread)> {
        let (requests, wanted) = mpsc::channel();
        let (results, made) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("connect".into())
            .spawn(move || serve(connect, &wanted, &results, &missing))?;
        let connector = Connector {
            requests: requests.clone(),
            made,
        };
        Ok((connector, ConnectorThread { requests, thread }))
    }

    /// Ends the thread and waits for it.
    pub(crate) fn stop(self) {
        let _ = self.requests.send(Request::Stop);
        let _ = self.thread.join();
    }
}

impl<C> Connector<C> {
    /// Asks for a connection to a subscriber.
    pub(crate) fn request(&self, subscriber: usize) {
        // Once the session has closed nobody is there to ask, and nobody publishes.
        let _ = self.requests.send(Request::Connect(subscriber));
    }

    /// A connection that has come.
    pub(crate) fn made(&self) -> Option<(usize, C)> {
        self.made.try_recv().ok()
    }
}

fn serve<C>(
    connect: impl Fn(usize) -> io::Result<C>,
    requests: &Receiver<Request>,
    results: &Sender<(usize, C)>,
    missing: &Missing,
) {
    let mut wanted: Vec<usize> = Vec::new();
    loop {
        let pause = (!wanted.is_empty()).then(|| missing.pause());
        match await_request(requests, pause) {
            Ok(Request::Connect(subscriber)) => {
                wanted.push(subscriber);
                missing.0.fetch_add(1, Relaxed);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Request::Stop) | Err(RecvTimeoutError::Disconnected) => break,
        }
        let before = wanted.len();
        wanted.retain(|subscriber| match connect(*subscriber) {
            Ok(connection) => results.send((*subscriber, connection)).is_err(),
            // Who is refused once is refused each time.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                eprintln!("subscriber {subscriber} and this publisher don't trust each other: {error}");
                false
            }
            Err(_) => true,
        });
        missing.0.fetch_sub(before - wanted.len(), Relaxed);
    }
    missing.0.fetch_sub(wanted.len(), Relaxed);
}

/// Waits for a request, without an end where there is nothing to try again after a pause.
fn await_request(requests: &Receiver<Request>, pause: Option<Duration>) -> Result<Request, RecvTimeoutError> {
    match pause {
        None => requests.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(pause) => requests.recv_timeout(pause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_connections_a_session_misses_the_more_seldom_each_is_tried() {
        let pauses_ms = [0, 1, 7, 8, 250].map(|missing: usize| Missing(Arc::new(missing.into())).pause().as_millis());
        assert_eq!(pauses_ms, [1, 1, 1, 2, 62]);
    }

    #[test]
    fn who_is_found_or_left_is_missed_no_more() {
        let missing = Missing::default();
        let connect = |peer| match peer {
            0 => Ok(peer),
            _ => Err(ErrorKind::ConnectionRefused.into()),
        };
        let (connector, thread) = ConnectorThread::start(connect, missing.clone()).unwrap();
        for peer in [1, 0] {
            connector.request(peer);
        }
        while connector.made().is_none() {
            std::thread::yield_now();
        }
        thread.stop();
        assert_eq!(missing.0.load(Relaxed), 0);
    }
}
