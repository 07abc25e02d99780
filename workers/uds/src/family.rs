//! Unix domain sockets: each subscriber's address is a file in the trial's folder.
//!
//! What the kernel takes as one packet or datagram is asked of the kernel itself, before the trial.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use middlemark_contract::{ApplicationSpec, MessagePath, PatternSpec, Refusal, SecurityLevel, StreamSpec};
use middlemark_runtime::{Channel, Options, user};
use middlemark_sockets::{Buffered, Buffers, Family, Kind};
use socket2::{Domain, SockAddr, Socket, Type};

/// The mode of a socket that only its own user may connect to.
const OWN_ALONE: libc::mode_t = 0o600;

pub(crate) struct Uds {
    folder: PathBuf,
    kind: Kind,
    buffers: Buffers,
    security: Option<SecurityLevel>,
}

impl Uds {
    pub(crate) fn new(spec: &ApplicationSpec, options: &Options) -> Uds {
        Uds {
            folder: spec.rendezvous.folder.clone(),
            kind: match options.text("transport") {
                "dgram" => Kind::Datagram,
                "seqpacket" => Kind::Packet,
                _ => Kind::Stream,
            },
            buffers: Buffers::of(options),
            security: spec.security_level(),
        }
    }

    /// Refuses a folder whose name leaves no room for a socket's.
    pub(crate) fn accept_folder(&self) -> Result<(), Refusal> {
        SockAddr::unix(self.path(u16::MAX, usize::from(u16::MAX)))
            .map(drop)
            .map_err(|error| Refusal {
                capability: "spec".into(),
                reason: format!(
                    "a socket's name in {} would be too long: {error}",
                    self.folder.display()
                ),
            })
    }

    /// Refuses requests where a response would have no connection to come back on.
    pub(crate) fn accept_pattern(&self, stream: &StreamSpec) -> Result<(), Refusal> {
        let asks = matches!(stream.pattern, PatternSpec::RequestResponse { .. });
        if !asks || self.kind != Kind::Datagram {
            return Ok(());
        }
        Err(Refusal {
            capability: "pattern".into(),
            reason: format!(
                "request_response of '{}': a datagram comes over no connection on which its response could go back; allowed: \
                 transport stream or seqpacket",
                stream.name
            ),
        })
    }

    /// Refuses a message that the kernel does not take in one piece, by trying.
    pub(crate) fn accept_size(&self, size_bytes: u64) -> Result<(), Refusal> {
        if self.kind == Kind::Stream {
            return Ok(());
        }
        self.send_to_self(size_bytes as usize).map_err(|error| Refusal {
            capability: "size_bytes".into(),
            reason: format!(
                "{size_bytes} in one {} of a Unix domain socket: {error}; its send buffer bounds it \
                 (option so_sndbuf_bytes, which the kernel caps at net.core.wmem_max)",
                self.word()
            ),
        })
    }

    fn send_to_self(&self, size_bytes: usize) -> io::Result<()> {
        let kind = match self.kind {
            Kind::Datagram => Type::DGRAM,
            Kind::Packet => Type::SEQPACKET,
            Kind::Stream => Type::STREAM,
        };
        let (near, _far) = Socket::pair(Domain::UNIX, kind, None)?;
        self.configure(&near)?;
        near.set_nonblocking(true)?;
        near.send(&vec![0; size_bytes]).map(drop)
    }

    fn word(&self) -> &'static str {
        match self.kind {
            Kind::Datagram => "dgram",
            Kind::Packet => "seqpacket",
            Kind::Stream => "stream",
        }
    }

    fn path(&self, channel: u16, subscriber: usize) -> PathBuf {
        self.folder.join(format!("uds_{channel}_{subscriber}"))
    }
}

impl Family for Uds {
    fn transport(&self) -> String {
        format!("unix {}", self.word())
    }

    fn path(&self) -> MessagePath {
        MessagePath::LocalSocket
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn address(&self, channel: &Channel, subscriber: usize) -> io::Result<SockAddr> {
        SockAddr::unix(self.path(channel.number, subscriber))
    }

    /// The mode is the one that its file has from the moment that it is bound, so that nobody else ever may connect to it.
    fn configure(&self, socket: &Socket) -> io::Result<()> {
        // SAFETY: the descriptor is the socket's, which lives as long as the call.
        if unsafe { libc::fchmod(socket.as_raw_fd(), OWN_ALONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        self.buffers.apply(socket)
    }

    fn accept_peer(&self, address: &SockAddr) -> io::Result<()> {
        address.as_pathname().map_or(Ok(()), user::check_own)
    }

    fn security(&self) -> Option<SecurityLevel> {
        self.security
    }

    fn most_buffered(&self, socket: &Socket) -> io::Result<Buffered> {
        // The sender's buffer alone counts (unix(7)).
        let most = self.buffers.most(socket)?;
        Ok(Buffered {
            to_receive: None,
            ..most
        })
    }

    fn granted(&self, socket: &Socket) -> io::Result<BTreeMap<String, String>> {
        self.buffers.granted(socket)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    fn family(kind: Kind) -> Uds {
        Uds {
            folder: "/tmp".into(),
            kind,
            buffers: Buffers::default(),
            security: None,
        }
    }

    #[test]
    fn a_stream_takes_any_size_and_the_others_what_the_send_buffer_holds() {
        assert_eq!(family(Kind::Stream).accept_size(64 << 20), Ok(()));
        for kind in [Kind::Packet, Kind::Datagram] {
            assert_eq!(family(kind).accept_size(1000), Ok(()));
            let refusal = family(kind).accept_size(64 << 20).unwrap_err();
            assert_eq!(refusal.capability, "size_bytes");
            assert!(refusal.reason.contains("so_sndbuf_bytes"), "{}", refusal.reason);
        }
    }

    #[test]
    fn requests_need_a_connection_for_their_responses() {
        let asking: StreamSpec = serde_json::from_value(json!({
            "name": "rpc", "size_bytes": 64, "publishers": [], "subscribers": [], "qos": middlemark_contract::Qos::RELIABLE,
            "pattern": {
                "kind": "request_response", "pace": {"kind": "closed", "approach_hz": 1.0}, "response_bytes": 64,
                "outstanding": 1, "timeout_ns": 1, "server_time": {"kind": "constant", "time_ns": 0}, "seed": 0,
            },
        }))
        .unwrap();
        for kind in [Kind::Stream, Kind::Packet] {
            assert_eq!(family(kind).accept_pattern(&asking), Ok(()));
        }
        let refusal = family(Kind::Datagram).accept_pattern(&asking).unwrap_err();
        assert!(
            refusal.capability == "pattern" && refusal.reason.contains("'rpc'"),
            "{}",
            refusal.reason
        );
    }

    #[test]
    fn a_socket_is_its_users_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let address = SockAddr::unix(&path).unwrap();
        let missing = family(Kind::Stream).accept_peer(&address).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        family(Kind::Stream).configure(&socket).unwrap();
        socket.bind(&address).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        family(Kind::Stream).accept_peer(&address).unwrap();
    }

    #[test]
    fn a_folder_with_a_long_name_is_refused() {
        let mut family = family(Kind::Stream);
        assert_eq!(family.accept_folder(), Ok(()));
        family.folder = "/tmp".into();
        family.folder.push("x".repeat(100));
        assert_eq!(family.accept_folder().unwrap_err().capability, "spec");
    }
}
