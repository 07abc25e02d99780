//! One interface listened at: every frame that passes it, either way, with the kernel's stamp and its real length.
//!
//! It keeps and counts nothing but what the kernel could not hold for it.

use std::io::{self, IoSliceMut};
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrLike, bind,
    recvmsg, setsockopt, socket,
};
use nix::sys::time::TimeSpec;

use crate::error::CaptureError;
use crate::file::Frame;

/// So much may come while the capture is not on a CPU.
const WAITING_BYTES: usize = 64 << 20;

pub(crate) struct Tap {
    socket: OwnedFd,
}

impl Tap {
    pub(crate) fn open(interface: &str) -> Result<Self, CaptureError> {
        let index = if_nametoindex(interface).map_err(|error| CaptureError::Interface {
            name: interface.to_owned(),
            source: error.into(),
        })?;
        let doing = |doing: &str| {
            let doing = format!("{doing} at {interface}");
            move |error: Errno| CaptureError::Machine {
                doing,
                source: error.into(),
            }
        };
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        // Without a protocol it hears nothing until it is bound to its interface.
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None::<SockProtocol>)
            .map_err(|error| CaptureError::NotPermitted(error.into()))?;
        setsockopt(&socket, ReceiveTimestampns, &true).map_err(doing("asking for stamps"))?;
        // Forcing needs CAP_NET_ADMIN over the whole machine; without it the limit of the machine has to do.
        setsockopt(&socket, RcvBufForce, &WAITING_BYTES)
            .or_else(|_| setsockopt(&socket, RcvBuf, &WAITING_BYTES))
            .map_err(doing("asking for room"))?;
        bind(socket.as_raw_fd(), &address(index)).map_err(doing("listening"))?;
        Ok(Self { socket })
    }

    /// Gives up to `limit` frames that wait to `take`, each with as much as `room` holds; says how many.
    pub(crate) fn take(
        &self,
        limit: usize,
        room: &mut [u8],
        mut take: impl FnMut(&Frame<'_>) -> Result<(), CaptureError>,
    ) -> Result<usize, CaptureError> {
        for taken in 0..limit {
            match self.next(room) {
                Ok(Some((at, is_sent, length))) => {
                    let kept = &room[..length.min(room.len())];
                    take(&Frame {
                        at,
                        is_sent,
                        kept,
                        length,
                    })?;
                }
                Ok(None) => return Ok(taken),
                Err(source) => {
                    return Err(CaptureError::Machine {
                        doing: "hearing frames".to_owned(),
                        source,
                    });
                }
            }
        }
        Ok(limit)
    }

    /// The next frame's instant, direction and length, its first bytes in `room`.
    fn next(&self, room: &mut [u8]) -> io::Result<Option<(Duration, bool, usize)>> {
        let mut stamp = nix::cmsg_space!(TimeSpec);
        let mut parts = [IoSliceMut::new(room)];
        loop {
            let heard = recvmsg::<LinkAddr>(
                self.socket.as_raw_fd(),
                &mut parts,
                Some(&mut stamp),
                MsgFlags::MSG_TRUNC,
            );
            match heard {
                Ok(heard) => {
                    let at = heard.cmsgs()?.find_map(|each| match each {
                        ControlMessageOwned::ScmTimestampns(at) => Some(Duration::from(at)),
                        _ => None,
                    });
                    let kind = heard.address.map(|address| address.pkttype());
                    // What leaves here goes to the host.
                    return Ok(Some((
                        at.unwrap_or_default(),
                        kind != Some(libc::PACKET_OUTGOING),
                        heard.bytes,
                    )));
                }
                Err(Errno::EAGAIN) => return Ok(None),
                // The interface went down, which is told once; and a signal.
                Err(Errno::ENETDOWN | Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Frames that found no room in the kernel; each is told once.
    pub(crate) fn lost(&self) -> u64 {
        let mut statistics = libc::tpacket_stats {
            tp_packets: 0,
            tp_drops: 0,
        };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: `statistics` has room for the `length` that is given.
        let status = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut statistics).cast(),
                &raw mut length,
            )
        };
        if status == 0 { u64::from(statistics.tp_drops) } else { 0 }
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Every frame of one interface.
fn address(index: u32) -> LinkAddr {
    // SAFETY: all zeros is a valid `sockaddr_ll`.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index as i32;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `address` is a link-layer address of this length.
    unsafe { LinkAddr::from_raw((&raw const address).cast(), Some(length)) }.expect("its family is AF_PACKET")
}
