//! A subscriber of a connected kind: it listens at its address and receives from every publisher that connects.
//!
//! One thread accepts, one thread receives from each connection (`receive_loop`); a connection that ends is forgotten.

use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use socket2::Socket;

use crate::receive_loop::{ReceiveLoop, Reception};

/// More publishers than a trial has may be waiting to be accepted.
const BACKLOG: i32 = 1024;

/// A listening subscriber.
pub(crate) struct Listener {
    socket: Arc<Socket>,
    connections: Arc<Mutex<Connections>>,
    thread: JoinHandle<()>,
}

/// The connections being received from; none once the listener is closing.
type Connections = Option<Vec<ReceiveLoop>>;

impl Listener {
    /// Listens on a bound socket.
    pub(crate) fn start(socket: Socket, reception: Reception) -> io::Result<Listener> {
        socket.listen(BACKLOG)?;
        let socket = Arc::new(socket);
        let connections = Arc::new(Mutex::new(Some(Vec::new())));
        let thread = {
            let (socket, connections) = (socket.clone(), connections.clone());
            std::thread::Builder::new()
                .name("accept".into())
                .spawn(move || accept(&socket, &connections, &reception))?
        };
        Ok(Listener {
            socket,
            connections,
            thread,
        })
    }

    /// Accepts no more, ends every connection and waits for all threads.
    pub(crate) fn stop(self) {
        let connections = lock(&self.connections).take();
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.thread.join();
        for connection in connections.into_iter().flatten() {
            connection.stop();
        }
    }
}

fn accept(socket: &Socket, connections: &Mutex<Connections>, reception: &Reception) {
    loop {
        match socket.accept() {
            Ok((connection, _)) => match &mut *lock(connections) {
                None => return,
                Some(loops) => {
                    loops.retain(|each| !each.is_over());
                    match ReceiveLoop::start(connection, reception.clone()) {
                        Ok(started) => loops.push(started),
                        Err(error) => eprintln!("a connection can't be received from: {error}"),
                    }
                }
            },
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
            Err(error) => {
                if lock(connections).is_some() {
                    eprintln!("accepting ended: {error}");
                }
                return;
            }
        }
    }
}

fn lock(connections: &Mutex<Connections>) -> std::sync::MutexGuard<'_, Connections> {
    connections.lock().unwrap_or_else(PoisonError::into_inner)
}
