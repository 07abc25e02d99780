//! A receive loop: from one socket into a receiver, on a thread of its own, until it is stopped or its peer is gone.
//!
//! One system call a message (or a batch of a stream's messages) and nothing else: no allocation, no lock, no poll.

use std::io::{self, ErrorKind, Read};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;

use middlemark_contract::Delivery;
use middlemark_runtime::{Channel, Idle, Receiver};
use socket2::Socket;

use crate::family::Kind;
use crate::framing::StreamReader;
use crate::guard::Guard;

/// What a receive loop needs to know.
#[derive(Clone)]
pub(crate) struct Reception {
    pub(crate) kind: Kind,
    pub(crate) delivery: Delivery,
    pub(crate) channel: Channel,
    pub(crate) receiver: Receiver,
    pub(crate) guard: Option<Arc<dyn Guard>>,
}

/// A socket that is received from.
pub(crate) struct ReceiveLoop {
    socket: Arc<Socket>,
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl ReceiveLoop {
    /// Receives from a bound or connected socket.
    pub(crate) fn start(socket: Socket, reception: Reception) -> io::Result<ReceiveLoop> {
        socket.set_nonblocking(reception.delivery == Delivery::Polling)?;
        let socket = Arc::new(socket);
        let stopping = Arc::new(AtomicBool::new(false));
        let thread = {
            let (socket, stopping) = (socket.clone(), stopping.clone());
            std::thread::Builder::new()
                .name("receive".into())
                .spawn(move || reception.run(&socket, &stopping))?
        };
        Ok(ReceiveLoop {
            socket,
            stopping,
            thread,
        })
    }

    /// Whether its peer is gone.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Ends the loop and waits for it.
    pub(crate) fn stop(self) {
        self.stopping.store(true, Relaxed);
        // Wakes a thread that waits in the receive call, on a socket without a connection too (there with ENOTCONN).
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.thread.join();
    }
}

impl Reception {
    fn run(self, socket: &Socket, stopping: &AtomicBool) {
        let result = match self.kind {
            Kind::Stream => match &self.guard {
                None => self.stream(socket, stopping),
                Some(guard) => self.guarded(&**guard, socket, stopping),
            },
            Kind::Packet | Kind::Datagram => self.messages(socket, stopping),
        };
        if let Err(error) = result
            && error.kind() != ErrorKind::ConnectionReset
        {
            eprintln!("receiving ended: {error}");
        }
    }

    /// The same of a stream whose peer has to be let in first.
    fn guarded(&self, guard: &dyn Guard, socket: &Socket, stopping: &AtomicBool) -> io::Result<()> {
        socket.set_nonblocking(false)?;
        let stream = guard.admit(socket, &self.channel)?;
        socket.set_nonblocking(self.delivery == Delivery::Polling)?;
        self.stream(stream, stopping)
    }

    fn stream(&self, mut stream: impl Read, stopping: &AtomicBool) -> io::Result<()> {
        let mut idle = Idle::default();
        let mut reader = StreamReader::new(self.channel.size_bytes);
        loop {
            match reader.read(
                &mut stream,
                |begun| self.channel.bytes_of(begun),
                |message| self.receiver.receive(message),
            ) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) if is_passing(&error) => {
                    if stopping.load(Relaxed) {
                        return Ok(());
                    }
                    idle.pass();
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn messages(&self, mut socket: &Socket, stopping: &AtomicBool) -> io::Result<()> {
        let mut idle = Idle::default();
        // One byte more than a message has, so that a longer one is seen to be wrong.
        let mut buffer = vec![0; self.channel.size_bytes + 1];
        loop {
            match socket.read(&mut buffer) {
                Ok(0) if self.kind == Kind::Packet || stopping.load(Relaxed) => return Ok(()),
                Ok(length) => self.receiver.receive(&buffer[..length]),
                Err(error) if is_passing(&error) => {
                    if stopping.load(Relaxed) {
                        return Ok(());
                    }
                    idle.pass();
                }
                Err(error) => return Err(error),
            }
        }
    }
}

#[inline]
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
