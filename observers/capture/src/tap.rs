//! One interface listened at: every frame that passes it, either way, with the kernel's stamp and its real length.
//!
//! It keeps and counts nothing but what the kernel could not hold for it.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use middlemark_packet_socket::{Buffer, PacketSocket};
use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{ControlMessageOwned, LinkAddr, MsgFlags, recvmsg};
use nix::sys::time::TimeSpec;

use crate::error::CaptureError;
use crate::file::Frame;

/// So much may come while the capture is not on a CPU.
const WAITING_BYTES: libc::c_int = 64 << 20;

pub(crate) struct Tap {
    socket: PacketSocket,
}

impl Tap {
    pub(crate) fn open(interface: &str) -> Result<Self, CaptureError> {
        let index = if_nametoindex(interface).map_err(|error| CaptureError::Interface {
            name: interface.to_owned(),
            source: error.into(),
        })?;
        let doing = |doing: &str| {
            let doing = format!("{doing} at {interface}");
            move |source| CaptureError::Machine { doing, source }
        };
        let socket = PacketSocket::open().map_err(CaptureError::NotPermitted)?;
        let on: libc::c_int = 1;
        socket
            .set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &on)
            .map_err(doing("asking for stamps"))?;
        socket
            .set_room(Buffer::Receive, WAITING_BYTES)
            .map_err(doing("asking for room"))?;
        socket.bind(index as libc::c_int).map_err(doing("listening"))?;
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
        self.socket.take_drops()
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
