//! A UDP socket that says when each datagram arrived and how many it had to drop, and that waits until a nanosecond.

use std::io;
use std::mem::{size_of, size_of_val};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};

use libc::c_int;

use crate::error::ProbeError;
use crate::wire::datagram::LARGEST_BYTES;

const BUFFER_BYTES: c_int = 32 << 20;
/// Room for a stamp and a count of drops.
const CONTROL_WORDS: usize = 16;

/// Room for any datagram.
pub(crate) type Room = [u8; LARGEST_BYTES];

/// A UDP socket.
pub(crate) struct Socket {
    socket: UdpSocket,
    drops: u64,
}

/// A datagram that arrived; its bytes are in the room that was given.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) length: usize,
    pub(crate) from: SocketAddr,
    /// By the kernel's stamp: `CLOCK_REALTIME`, so for differences only.
    pub(crate) stamp_ns: i64,
}

impl Socket {
    pub(crate) fn bind(address: SocketAddr) -> Result<Self, ProbeError> {
        let doing = || ProbeError::machine(format!("opening a UDP socket at {address}"));
        let socket = UdpSocket::bind(address).map_err(doing())?;
        socket.set_nonblocking(true).map_err(doing())?;
        for option in [libc::SO_TIMESTAMPNS, libc::SO_RXQ_OVFL] {
            set(&socket, option, 1).map_err(doing())?;
        }
        // Forcing needs CAP_NET_ADMIN over the whole machine; without it the limit of the machine has to do.
        set(&socket, libc::SO_RCVBUFFORCE, BUFFER_BYTES)
            .or_else(|_| set(&socket, libc::SO_RCVBUF, BUFFER_BYTES))
            .map_err(doing())?;
        Ok(Self { socket, drops: 0 })
    }

    pub(crate) fn address(&self) -> Result<SocketAddr, ProbeError> {
        self.socket
            .local_addr()
            .map_err(ProbeError::machine("asking for the socket's address"))
    }

    /// What the socket has dropped since it was opened, as far as an arrival has told.
    pub(crate) fn drops(&self) -> u64 {
        self.drops
    }

    /// False when the socket has no room for it now, or the network refuses it now.
    pub(crate) fn send(&self, datagram: &[u8], to: SocketAddr) -> bool {
        self.socket.send_to(datagram, to).is_ok()
    }

    /// The next datagram that has arrived, if any.
    pub(crate) fn receive(&mut self, room: &mut Room) -> Option<Arrival> {
        // SAFETY: all zeros is a valid address and a valid message header.
        let (mut from, mut message): (libc::sockaddr_storage, libc::msghdr) = unsafe { std::mem::zeroed() };
        let mut part = libc::iovec {
            iov_base: room.as_mut_ptr().cast(),
            iov_len: LARGEST_BYTES,
        };
        let mut control = [0_u64; CONTROL_WORDS];
        message.msg_name = (&raw mut from).cast();
        message.msg_namelen = size_of_val(&from) as libc::socklen_t;
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control);
        // SAFETY: `message` points to buffers that live through the call, with their sizes.
        let length = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        let length = usize::try_from(length).ok()?;
        Some(Arrival {
            length,
            from: address_of(&from)?,
            stamp_ns: self.read_control(&message),
        })
    }

    /// Takes the drops, gives the stamp.
    fn read_control(&mut self, message: &libc::msghdr) -> i64 {
        let mut stamp_ns = 0;
        // SAFETY: the kernel has filled the control buffer, which lives as long as `message`.
        let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
        while !header.is_null() {
            // SAFETY: the macros give headers within the control buffer, whose data has the type of its option.
            unsafe {
                let data = libc::CMSG_DATA(header);
                match (*header).cmsg_type {
                    libc::SCM_TIMESTAMPNS => {
                        let time = data.cast::<libc::timespec>().read_unaligned();
                        stamp_ns = time.tv_sec * 1_000_000_000 + time.tv_nsec;
                    }
                    libc::SO_RXQ_OVFL => self.drops = data.cast::<u32>().read_unaligned().into(),
                    _ => {}
                }
                header = libc::CMSG_NXTHDR(message, header);
            }
        }
        stamp_ns
    }

    /// Waits until something arrives or a time has passed (none: however long it takes); true when `other` is ready.
    pub(crate) fn wait(&self, other: Option<RawFd>, left_ns: Option<i64>) -> Result<bool, ProbeError> {
        let ready = poll([self.socket.as_raw_fd(), other.unwrap_or(-1)], left_ns)?;
        Ok(ready[1] != 0)
    }
}

/// Takes away the 50 µs by which the kernel may put off an ordinary process's timers.
pub(crate) fn wake_precisely() {
    // SAFETY: PR_SET_TIMERSLACK takes one integer; it can only fail for other options.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

fn poll(descriptors: [RawFd; 2], left_ns: Option<i64>) -> Result<[i16; 2], ProbeError> {
    let mut polled = descriptors.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    let time = left_ns.map(|left_ns| libc::timespec {
        tv_sec: left_ns.max(0) / 1_000_000_000,
        tv_nsec: left_ns.max(0) % 1_000_000_000,
    });
    let timeout = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: `polled` holds two descriptors, `timeout` is null or valid, and no signal mask is given.
    if unsafe { libc::ppoll(polled.as_mut_ptr(), 2, timeout, std::ptr::null()) } == -1 {
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::Interrupted {
            return Ok([0; 2]);
        }
        return Err(ProbeError::machine("waiting for datagrams")(error));
    }
    Ok(polled.map(|one| one.revents))
}

fn set(socket: &UdpSocket, option: c_int, value: c_int) -> io::Result<()> {
    let (pointer, length) = ((&raw const value).cast(), size_of::<c_int>() as libc::socklen_t);
    // SAFETY: `value` is readable for its size; the kernel copies it.
    match unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, pointer, length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn address_of(storage: &libc::sockaddr_storage) -> Option<SocketAddr> {
    match i32::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that it is an IPv4 address, which a `sockaddr_storage` has room for.
            let address = unsafe { std::ptr::from_ref(storage).cast::<libc::sockaddr_in>().read() };
            let octets = address.sin_addr.s_addr.to_ne_bytes();
            Some((octets, u16::from_be(address.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that it is an IPv6 address, which a `sockaddr_storage` has room for.
            let address = unsafe { std::ptr::from_ref(storage).cast::<libc::sockaddr_in6>().read() };
            Some((address.sin6_addr.s6_addr, u16::from_be(address.sin6_port)).into())
        }
        _ => None,
    }
}
