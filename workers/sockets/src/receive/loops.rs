//! Receive loops: a thread for each socket, which takes what comes until it is stopped or its peer is gone.
//!
//! What such a thread does is `reception`'s.

use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use socket2::Socket;

/// A socket that is received from.
pub(crate) struct ReceiveLoop {
    socket: Arc<Socket>,
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl ReceiveLoop {
    /// Has `receive` take what comes over a bound or connected socket; it is to return once it sees that it is stopped.
    pub(crate) fn start(
        socket: Arc<Socket>,
        receive: impl FnOnce(&AtomicBool) -> io::Result<()> + Send + 'static,
    ) -> io::Result<ReceiveLoop> {
        let stopping = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stopping);
        let thread = std::thread::Builder::new()
            .name("receive".into())
            .spawn(move || match receive(&stopped) {
                Err(error) if error.kind() != ErrorKind::ConnectionReset => eprintln!("receiving ended: {error}"),
                _ => {}
            })?;
        Ok(ReceiveLoop {
            socket,
            stopping,
            thread,
        })
    }

    /// Ends the loop and waits for it.
    pub(crate) fn stop(self) {
        self.stopping.store(true, Relaxed);
        // Wakes a thread that waits in the receive call, on a socket without a connection too (there with ENOTCONN).
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.thread.join();
    }
}

/// The loops of an endpoint's connections, which come and go until all of them are stopped.
#[derive(Clone)]
pub(crate) struct Loops(Arc<Mutex<Option<Vec<ReceiveLoop>>>>);

impl Default for Loops {
    fn default() -> Loops {
        Loops(Arc::new(Mutex::new(Some(Vec::new()))))
    }
}

impl Loops {
    /// Adds the one that `start` starts, unless they have been stopped; those whose peers are gone are forgotten.
    pub(crate) fn add(&self, start: impl FnOnce() -> io::Result<ReceiveLoop>) -> io::Result<()> {
        if let Some(loops) = &mut *self.lock() {
            loops.retain(|each| !each.thread.is_finished());
            loops.push(start()?);
        }
        Ok(())
    }

    /// Stops them all and waits for them; none is added any more.
    pub(crate) fn stop(&self) {
        let loops = self.lock().take();
        loops.into_iter().flatten().for_each(ReceiveLoop::stop);
    }

    pub(crate) fn are_stopped(&self) -> bool {
        self.lock().is_none()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<ReceiveLoop>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
