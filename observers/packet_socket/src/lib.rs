//! A raw socket at one interface (`AF_PACKET`): opened, given room, bound, and asked what found no room in it.
//!
//! How frames are taken from it is its owner's business: the capture receives them one by one, the relay through a ring.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use libc::c_int;

/// Every protocol, in network byte order.
const EVERY_PROTOCOL: u16 = (libc::ETH_P_ALL as u16).to_be();

/// A socket that takes and gives whole frames, and never waits.
pub struct PacketSocket {
    descriptor: OwnedFd,
}

/// What the kernel keeps of a socket.
#[derive(Debug, Clone, Copy)]
pub enum Buffer {
    /// Frames that nobody has taken yet.
    Receive,
    /// Frames that the interface has not taken yet.
    Send,
}

impl Buffer {
    /// The options that ask for room: beyond the limit of the machine, and within it.
    fn options(self) -> [c_int; 2] {
        match self {
            Self::Receive => [libc::SO_RCVBUFFORCE, libc::SO_RCVBUF],
            Self::Send => [libc::SO_SNDBUFFORCE, libc::SO_SNDBUF],
        }
    }
}

impl PacketSocket {
    /// Opens one, which needs `CAP_NET_RAW` in this network namespace; it hears nothing until it is bound.
    pub fn open() -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: creates a descriptor, which is owned at once when it is one.
        let descriptor = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if descriptor == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        Ok(Self { descriptor })
    }

    /// Has it hear every frame of the interface of this index, whatever its protocol.
    pub fn bind(&self, interface: c_int) -> io::Result<()> {
        // SAFETY: all zeros is a valid `sockaddr_ll`.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = EVERY_PROTOCOL;
        address.sll_ifindex = interface;
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: `address` is valid for its length.
        check(unsafe { libc::bind(self.as_raw_fd(), (&raw const address).cast(), length) })
    }

    /// Sets an option to a value of the type that the kernel asks for.
    pub fn set<T>(&self, level: c_int, name: c_int, value: &T) -> io::Result<()> {
        let (pointer, length) = (std::ptr::from_ref(value).cast(), size_of::<T>() as libc::socklen_t);
        // SAFETY: `value` is readable for its size; the kernel copies it.
        check(unsafe { libc::setsockopt(self.as_raw_fd(), level, name, pointer, length) })
    }

    /// Asks for so much room, or for as much of it as the machine allows.
    pub fn set_room(&self, buffer: Buffer, bytes: c_int) -> io::Result<()> {
        let [force, ask] = buffer.options();
        // Forcing needs CAP_NET_ADMIN over the whole machine; without it the limit of the machine has to do.
        self.set(libc::SOL_SOCKET, force, &bytes)
            .or_else(|_| self.set(libc::SOL_SOCKET, ask, &bytes))
    }

    /// Frames that found no room in the kernel since this was last asked: it counts from zero after each reading.
    pub fn take_drops(&self) -> u64 {
        let mut statistics = libc::tpacket_stats {
            tp_packets: 0,
            tp_drops: 0,
        };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: `statistics` has room for the `length` that is given.
        let status = unsafe {
            libc::getsockopt(
                self.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut statistics).cast(),
                &raw mut length,
            )
        };
        if status == 0 { u64::from(statistics.tp_drops) } else { 0 }
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl AsRawFd for PacketSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

fn check(status: c_int) -> io::Result<()> {
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
