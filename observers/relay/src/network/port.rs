//! An interface as the relay uses it: a raw socket that gives the frames that come in and takes those that go out.
//!
//! Frames come through a ring that is shared with the kernel (`PACKET_RX_RING`), stamped when they arrived, so that the
//! relay's own waking isn't added to a delay. What the relay itself sends never comes back to it.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::c_int;
use middlemark_packet_socket::{Buffer, PacketSocket};
use middlemark_runtime::clock::now_ns;

use crate::error::RelayError;
use crate::network::interface::Interface;

const RING_BYTES: usize = 16 << 20;
const BLOCK_BYTES: usize = 64 << 10;
/// The ring's header, the address behind it and the kernel's alignment.
const HEADROOM_BYTES: usize = 96;
/// A VLAN tag, which the kernel takes out of the frame.
const TAG_BYTES: usize = 4;
const SEND_BUFFER_BYTES: c_int = 16 << 20;
/// Where a frame's addresses end and its tag or type begins.
const ADDRESSES_BYTES: usize = 12;

pub(crate) struct Port {
    socket: PacketSocket,
    ring: NonNull<u8>,
    frames: usize,
    frame_bytes: usize,
    next: usize,
    kernel_drops: u64,
}

/// A frame as it came in.
pub(crate) enum Arrival<'a> {
    Frame {
        frame: &'a mut [u8],
        arrived_ns: i64,
        has_unfinished_checksum: bool,
    },
    /// Longer than the ring's places.
    TooLong { frame_bytes: usize },
}

impl Port {
    /// Opens an interface for frames up to a size, without frame check sequence.
    pub(crate) fn open(interface: &Interface, largest_frame_bytes: usize) -> Result<Self, RelayError> {
        let socket = PacketSocket::open().map_err(RelayError::NotPermitted)?;
        let doing = |doing: &str| {
            let doing = format!("{doing} at {}", interface.name);
            move |source| RelayError::Machine { doing, source }
        };
        let frame_bytes = (HEADROOM_BYTES + largest_frame_bytes).next_power_of_two();
        let frames = RING_BYTES / frame_bytes;
        configure(&socket, frames, frame_bytes).map_err(doing("setting up the ring of frames"))?;
        let ring = map(&socket, frames * frame_bytes).map_err(doing("mapping the ring of frames"))?;
        let port = Self {
            socket,
            ring,
            frames,
            frame_bytes,
            next: 0,
            kernel_drops: 0,
        };
        port.bind(interface).map_err(doing("binding the socket"))?;
        Ok(port)
    }

    pub(crate) fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Gives up to `limit` frames that have come to `take`, and says how many.
    pub(crate) fn receive(&mut self, limit: usize, mut take: impl FnMut(Arrival<'_>)) -> usize {
        let Some(offset_ns) = self.has_frame().then(realtime_ahead_ns) else {
            return 0;
        };
        let mut taken = 0;
        while taken < limit && self.has_frame() {
            if let Some(arrival) = self.arrival(offset_ns) {
                take(arrival);
            }
            self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % self.frames;
            taken += 1;
        }
        taken
    }

    /// Hands a frame to the interface; it never waits.
    pub(crate) fn send(&self, frame: &[u8]) -> bool {
        // SAFETY: `frame` is readable for its length.
        let sent = unsafe {
            libc::send(
                self.descriptor(),
                frame.as_ptr().cast(),
                frame.len(),
                libc::MSG_DONTWAIT,
            )
        };
        sent == frame.len() as isize
    }

    /// Frames that found the ring full, since the start.
    pub(crate) fn kernel_drops(&mut self) -> u64 {
        self.kernel_drops += self.socket.take_drops();
        self.kernel_drops
    }

    /// Takes note that the interface went down, which would otherwise be told again and again.
    pub(crate) fn clear_error(&self) {
        let (mut error, mut length): (c_int, _) = (0, size_of::<c_int>() as libc::socklen_t);
        // SAFETY: `error` has room for the `length` that is given.
        unsafe {
            libc::getsockopt(
                self.descriptor(),
                libc::SOL_SOCKET,
                libc::SO_ERROR,
                (&raw mut error).cast(),
                &raw mut length,
            )
        };
    }

    fn bind(&self, interface: &Interface) -> io::Result<()> {
        self.socket.bind(interface.index)?;
        let membership = libc::packet_mreq {
            mr_ifindex: interface.index,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        self.socket
            .set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
    }

    fn place(&self) -> NonNull<u8> {
        // SAFETY: `next` is below `frames`, so the place lies within the mapping.
        unsafe { self.ring.add(self.next * self.frame_bytes) }
    }

    fn status(&self) -> &AtomicU32 {
        // SAFETY: every place begins with an aligned `tpacket2_hdr`, whose first member is the status.
        unsafe { AtomicU32::from_ptr(self.place().cast::<u32>().as_ptr()) }
    }

    fn has_frame(&self) -> bool {
        self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// The frame at the current place, which must be one; none when it is no frame that came in.
    fn arrival(&mut self, realtime_ahead_ns: i64) -> Option<Arrival<'_>> {
        let place = self.place();
        // SAFETY: the place is the user's until its status says otherwise, and begins with this header.
        let header = unsafe { place.cast::<libc::tpacket2_hdr>().read() };
        // SAFETY: the address follows the header, which is a multiple of the ring's alignment.
        let address = unsafe {
            place
                .add(size_of::<libc::tpacket2_hdr>())
                .cast::<libc::sockaddr_ll>()
                .read()
        };
        if address.sll_pkttype == libc::PACKET_OUTGOING {
            return None;
        }
        if header.tp_snaplen < header.tp_len {
            return Some(Arrival::TooLong {
                frame_bytes: header.tp_len as usize,
            });
        }
        let (mut begin, mut length) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        if header.tp_status & libc::TP_STATUS_VLAN_VALID != 0 && length >= ADDRESSES_BYTES {
            // SAFETY: `PACKET_RESERVE` keeps room for the tag before the frame, and the place is the user's.
            unsafe { insert_tag(place.add(begin - TAG_BYTES), header.tp_vlan_tpid, header.tp_vlan_tci) };
            (begin, length) = (begin - TAG_BYTES, length + TAG_BYTES);
        }
        // SAFETY: the kernel has written `length` bytes from `begin` on, and leaves them to this one borrower until the
        // status changes; the mapping may be written.
        let frame = unsafe { std::slice::from_raw_parts_mut(place.add(begin).as_ptr(), length) };
        let stamp_ns = i64::from(header.tp_sec) * 1_000_000_000 + i64::from(header.tp_nsec);
        Some(Arrival::Frame {
            frame,
            arrived_ns: (stamp_ns - realtime_ahead_ns).min(now_ns()),
            has_unfinished_checksum: header.tp_status & libc::TP_STATUS_CSUMNOTREADY != 0,
        })
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // SAFETY: this is the mapping of `map`, and nothing borrowed from it outlives the port.
        unsafe { libc::munmap(self.ring.as_ptr().cast(), self.frames * self.frame_bytes) };
    }
}

/// By how much the kernel's stamps are ahead of the one clock.
fn realtime_ahead_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; CLOCK_REALTIME always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec - now_ns()
}

/// Moves the addresses forward and writes a VLAN tag behind them.
///
/// # Safety
/// `begin` must have room for the tag before a frame that holds at least its addresses.
unsafe fn insert_tag(begin: NonNull<u8>, protocol: u16, control: u16) {
    let [first, second] = protocol.to_be_bytes();
    let [third, fourth] = control.to_be_bytes();
    // SAFETY: the caller says that all of it may be written.
    unsafe {
        std::ptr::copy(begin.add(TAG_BYTES).as_ptr(), begin.as_ptr(), ADDRESSES_BYTES);
        begin
            .add(ADDRESSES_BYTES)
            .cast::<[u8; TAG_BYTES]>()
            .write([first, second, third, fourth]);
    }
}

fn configure(socket: &PacketSocket, frames: usize, frame_bytes: usize) -> io::Result<()> {
    let block_bytes = BLOCK_BYTES.max(frame_bytes);
    let ring = libc::tpacket_req {
        tp_block_size: block_bytes as u32,
        tp_block_nr: (frames * frame_bytes / block_bytes) as u32,
        tp_frame_size: frame_bytes as u32,
        tp_frame_nr: frames as u32,
    };
    let version = libc::tpacket_versions::TPACKET_V2 as c_int;
    socket.set(libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
    socket.set(libc::SOL_PACKET, libc::PACKET_RESERVE, &(TAG_BYTES as u32))?;
    socket.set(libc::SOL_PACKET, libc::PACKET_RX_RING, &ring)?;
    socket.set_room(Buffer::Send, SEND_BUFFER_BYTES)
}

fn map(socket: &PacketSocket, length: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a new mapping of the socket's ring, of the size that was just requested.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            socket.as_raw_fd(),
            0,
        )
    };
    match NonNull::new(address.cast()) {
        Some(ring) if address != libc::MAP_FAILED => Ok(ring),
        _ => Err(io::Error::last_os_error()),
    }
}
