//! TCP's sockets: each subscriber listens on its own port, each publisher connects to it.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use middlemark_runtime::{Channel, Options};
use middlemark_sockets::{Buffered, Buffers, Family, Guard, Kind};
use socket2::{SockAddr, Socket};

use crate::congestion;
use crate::tls::Tls;

pub(crate) struct Tcp {
    buffers: Buffers,
    no_delay: bool,
    /// None: the one that the kernel is set to.
    congestion_control: Option<String>,
    /// None where its connections are open to all.
    tls: Option<Arc<Tls>>,
}

impl Tcp {
    /// Sockets as the options say.
    pub(crate) fn of(options: &Options, tls: Option<Arc<Tls>>) -> Tcp {
        Tcp {
            buffers: Buffers::of(options),
            no_delay: options.boolean("tcp_nodelay"),
            congestion_control: match options.text("tcp_congestion") {
                "system" => None,
                named => Some(named.to_owned()),
            },
            tls,
        }
    }

    /// The same with the kernel's own congestion control, which has no part in what buffers hold.
    pub(crate) fn with_usual_congestion_control(self) -> Tcp {
        Tcp {
            congestion_control: None,
            ..self
        }
    }
}

/// How large the kernel lets a buffer grow that nobody sizes: the last of the three numbers (tcp(7)).
fn grown_to(name: &str) -> io::Result<usize> {
    let path = format!("/proc/sys/net/ipv4/{name}");
    let numbers = std::fs::read_to_string(&path)?;
    let last = numbers
        .split_whitespace()
        .next_back()
        .and_then(|number| number.parse().ok());
    last.ok_or_else(|| io::Error::other(format!("{path} has no size: {}", numbers.trim())))
}

impl Family for Tcp {
    fn transport(&self) -> String {
        if self.tls.is_some() { "tcp with TLS" } else { "tcp" }.into()
    }

    fn guard(&self) -> Option<Arc<dyn Guard>> {
        self.tls.clone().map(|tls| tls as Arc<dyn Guard>)
    }

    fn kind(&self) -> Kind {
        Kind::Stream
    }

    fn address(&self, channel: &Channel, subscriber: usize) -> io::Result<SockAddr> {
        Ok(channel.subscribers[subscriber].socket.into())
    }

    fn configure(&self, socket: &Socket) -> io::Result<()> {
        // Before listen and connect, so that the window scale fits; accepted sockets inherit all of it.
        self.buffers.apply(socket)?;
        socket.set_tcp_nodelay(self.no_delay)?;
        match &self.congestion_control {
            Some(name) => socket.set_tcp_congestion(name.as_bytes()),
            None => Ok(()),
        }
    }

    fn most_buffered(&self, socket: &Socket) -> io::Result<Buffered> {
        let limits = Buffered {
            to_send: grown_to("tcp_wmem")?,
            to_receive: Some(grown_to("tcp_rmem")?),
        };
        self.buffers.most_grown(socket, limits)
    }

    fn granted(&self, socket: &Socket) -> io::Result<BTreeMap<String, String>> {
        let mut granted = self.buffers.granted(socket)?;
        granted.insert("tcp_congestion_granted".into(), congestion::of(socket)?);
        granted.insert("tcp_nodelay_granted".into(), socket.tcp_nodelay()?.to_string());
        Ok(granted)
    }
}
