//! Connects a publisher to its subscribers in the background, as soon as each is there, again and again.
//!
//! The publisher asks for a connection by the subscriber's index and picks it up when it has come; the session ends the
//! thread. It sends nothing.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use middlemark_runtime::Matched;
use socket2::{SockAddr, Socket};

use crate::family::{Family, connect};

/// A subscriber that is not there yet is tried again after this: short against any first message, long against the
/// microseconds that a refused attempt costs.
const RETRY: Duration = Duration::from_millis(1);

/// A host that does not answer at all is given up for this attempt; a close never waits longer.
const PATIENCE: Duration = Duration::from_millis(250);

enum Request {
    /// Connect to the subscriber with this index.
    Connect(usize),
    Stop,
}

/// The publisher's side.
pub(crate) struct Connector {
    requests: Sender<Request>,
    made: Receiver<(usize, Socket)>,
}

/// The session's side.
pub(crate) struct ConnectorThread {
    requests: Sender<Request>,
    thread: JoinHandle<()>,
}

impl ConnectorThread {
    /// Starts the thread of one publisher.
    pub(crate) fn start(
        family: Arc<dyn Family>,
        addresses: Vec<SockAddr>,
        matched: Matched,
    ) -> io::Result<(Connector, ConnectorThread)> {
        let (requests, wanted) = mpsc::channel();
        let (results, made) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("connect".into())
            .spawn(move || serve(&*family, &addresses, &wanted, &results, &matched))?;
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

impl Connector {
    /// Asks for a connection to a subscriber.
    pub(crate) fn request(&self, subscriber: usize) {
        // Once the session has closed nobody is there to ask, and nobody publishes.
        let _ = self.requests.send(Request::Connect(subscriber));
    }

    /// A connection that has come.
    pub(crate) fn made(&self) -> Option<(usize, Socket)> {
        self.made.try_recv().ok()
    }
}

fn serve(
    family: &dyn Family,
    addresses: &[SockAddr],
    requests: &Receiver<Request>,
    results: &Sender<(usize, Socket)>,
    matched: &Matched,
) {
    let mut wanted: Vec<usize> = Vec::new();
    loop {
        match await_request(requests, wanted.is_empty()) {
            Ok(Request::Connect(subscriber)) => wanted.push(subscriber),
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Request::Stop) | Err(RecvTimeoutError::Disconnected) => return,
        }
        wanted.retain(
            |subscriber| match connect(family, &addresses[*subscriber], PATIENCE, matched) {
                Ok(socket) => results.send((*subscriber, socket)).is_err(),
                Err(_) => true,
            },
        );
    }
}

fn await_request(requests: &Receiver<Request>, idle: bool) -> Result<Request, RecvTimeoutError> {
    if idle {
        requests.recv().map_err(|_| RecvTimeoutError::Disconnected)
    } else {
        requests.recv_timeout(RETRY)
    }
}
