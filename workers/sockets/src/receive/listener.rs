//! An endpoint of a connected kind: it listens at its address and receives from every peer that connects.
//!
//! One thread accepts, one thread receives from each connection (`loops`); a connection that ends is forgotten.

use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::sync::Arc;
use std::thread::JoinHandle;

use socket2::Socket;

use crate::receive::entrance::Entrance;
use crate::receive::loops::{Loops, ReceiveLoop};

/// More peers than a trial has may be waiting to be accepted.
const BACKLOG: i32 = 1024;

/// A listening subscriber or server.
pub(crate) struct Listener {
    socket: Arc<Socket>,
    connections: Loops,
    thread: JoinHandle<()>,
}

impl Listener {
    /// Listens on a bound socket.
    pub(crate) fn start(socket: Socket, entrance: Entrance) -> io::Result<Listener> {
        socket.listen(BACKLOG)?;
        let socket = Arc::new(socket);
        let connections = Loops::default();
        let thread = {
            let (socket, connections) = (socket.clone(), connections.clone());
            std::thread::Builder::new()
                .name("accept".into())
                .spawn(move || accept(&socket, &connections, &entrance))?
        };
        Ok(Listener {
            socket,
            connections,
            thread,
        })
    }

    /// Accepts no more, ends every connection and waits for all threads.
    pub(crate) fn stop(self) {
        self.connections.stop();
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.thread.join();
    }
}

fn accept(socket: &Socket, connections: &Loops, entrance: &Entrance) {
    loop {
        match socket.accept() {
            Ok((connection, _)) => {
                let connection = Arc::new(connection);
                let entrance = entrance.clone();
                let from = Arc::clone(&connection);
                let added =
                    connections.add(|| ReceiveLoop::start(connection, move |stopping| entrance.run(from, stopping)));
                if let Err(error) = added {
                    eprintln!("a connection can't be received from: {error}");
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
            Err(error) => {
                if !connections.are_stopped() {
                    eprintln!("accepting ended: {error}");
                }
                return;
            }
        }
    }
}
