//! UDP's sockets: each endpoint's own port, and a send that never waits for a receiver.
//!
//! A datagram's peer is known only by its port; nothing tells whether anyone is there.

use std::collections::BTreeMap;
use std::io;

use middlemark_runtime::Channel;
use middlemark_sockets::{Buffered, Buffers, Family, Kind};
use socket2::{SockAddr, Socket};

pub(crate) struct Udp {
    pub(crate) buffers: Buffers,
}

impl Family for Udp {
    fn transport(&self) -> String {
        "udp unicast".into()
    }

    fn kind(&self) -> Kind {
        Kind::Datagram
    }

    fn address(&self, channel: &Channel, subscriber: usize) -> io::Result<SockAddr> {
        Ok(channel.subscribers[subscriber].socket.into())
    }

    fn configure(&self, socket: &Socket) -> io::Result<()> {
        self.buffers.apply(socket)
    }

    fn most_buffered(&self, socket: &Socket) -> io::Result<Buffered> {
        self.buffers.most(socket)
    }

    fn granted(&self, socket: &Socket) -> io::Result<BTreeMap<String, String>> {
        self.buffers.granted(socket)
    }

    fn reports_absence_late(&self) -> bool {
        true
    }
}
