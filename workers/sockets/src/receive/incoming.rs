//! What comes over a socket: waited for, or looked for only, as the delivery says.
//!
//! The socket itself always blocks, so that what is written to it may wait for room.

use std::io::{self, Read};
use std::sync::Arc;

use middlemark_contract::Delivery;
use socket2::Socket;

/// The side of a socket that is read from.
pub struct Incoming {
    socket: Arc<Socket>,
    flags: i32,
}

impl Incoming {
    /// What comes over a socket that blocks.
    #[must_use]
    pub fn new(socket: Arc<Socket>, delivery: Delivery) -> Incoming {
        let flags = match delivery {
            Delivery::Polling => libc::MSG_DONTWAIT,
            Delivery::OwnThread | Delivery::LibraryThread => 0,
        };
        Incoming { socket, flags }
    }

    /// The socket, for what is written to it.
    #[must_use]
    pub fn socket(&self) -> &Arc<Socket> {
        &self.socket
    }
}

impl Read for Incoming {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: bytes may be taken for such that need not be initialised, as `recv_with_flags` only writes to them, and
        // writes nothing that is not.
        let buffer = unsafe { &mut *(std::ptr::from_mut(buffer) as *mut [std::mem::MaybeUninit<u8>]) };
        self.socket.recv_with_flags(buffer, self.flags)
    }
}
