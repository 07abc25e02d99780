//! Connects a publisher to its subscribers in the background, as soon as each is there, again and again.
//!
//! The publisher asks for a connection by the subscriber's index and picks it up when it has come; the session ends the
//! thread. It sends nothing.

use std::io::{self, ErrorKind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// A subscriber that is not there yet is tried again after this: short against any first message, long against the
/// microseconds that a refused attempt costs.
const RETRY: Duration = Duration::from_millis(1);

/// A host that does not answer at all is given up for this attempt; a close never waits longer.
pub(crate) const PATIENCE: Duration = Duration::from_millis(250);

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
    /// Starts the thread of one publisher; `connect` tries once to connect to the subscriber with an index.
    pub(crate) fn start<C: Send + 'static>(
        connect: impl Fn(usize) -> io::Result<C> + Send + 'static,
    ) -> io::Result<(Connector<C>, ConnectorThread)> {
        let (requests, wanted) = mpsc::channel();
        let (results, made) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("connect".into())
            .spawn(move || serve(connect, &wanted, &results))?;
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

fn serve<C>(connect: impl Fn(usize) -> io::Result<C>, requests: &Receiver<Request>, results: &Sender<(usize, C)>) {
    let mut wanted: Vec<usize> = Vec::new();
    loop {
        match await_request(requests, wanted.is_empty()) {
            Ok(Request::Connect(subscriber)) => wanted.push(subscriber),
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Request::Stop) | Err(RecvTimeoutError::Disconnected) => return,
        }
        wanted.retain(|subscriber| match connect(*subscriber) {
            Ok(connection) => results.send((*subscriber, connection)).is_err(),
            // Who is refused once is refused each time.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                eprintln!("subscriber {subscriber} and this publisher don't trust each other: {error}");
                false
            }
            Err(_) => true,
        });
    }
}

fn await_request(requests: &Receiver<Request>, idle: bool) -> Result<Request, RecvTimeoutError> {
    if idle {
        requests.recv().map_err(|_| RecvTimeoutError::Disconnected)
    } else {
        requests.recv_timeout(RETRY)
    }
}
