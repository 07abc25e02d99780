//! The sockets of this process: what they speak, whose ends they are, and what TCP has counted.
//!
//! It asks the kernel about each open file that is a socket; nothing is sent on one, and none is kept.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, BorrowedFd};

use middlemark_contract::{SocketProtocol, SocketUse};
use procfs::ProcResult;
use procfs::process::{FDTarget, Process};
use socket2::{Domain, Protocol, SockAddr, SockRef};

/// Where `tcp_info` (linux/tcp.h) has `tcpi_bytes_received`, and `tcpi_bytes_sent` since Linux 4.19.
const RECEIVED_AT: usize = 128;
const SENT_AT: usize = 200;

/// A peer, or an own end, that has no path.
const UNNAMED: &str = "unnamed";

/// What sockets have in common that are told together.
type Ends = (SocketProtocol, Option<String>, Option<String>);

/// All sockets, those of equal ends together; what is neither of the internet nor local is left out.
pub(crate) fn open() -> ProcResult<Vec<SocketUse>> {
    let mut uses: BTreeMap<Ends, SocketUse> = BTreeMap::new();
    for file in Process::myself()?.fd()?.flatten() {
        let FDTarget::Socket(_) = file.target else {
            continue;
        };
        // SAFETY: the number is only handed to calls that read; where its thread has closed it by now they fail, and where it
        // is another file already they tell of that one.
        let descriptor = unsafe { BorrowedFd::borrow_raw(file.fd) };
        if let Some((ends, bytes)) = looked_at(&SockRef::from(&descriptor)) {
            add(&mut uses, ends, bytes);
        }
    }
    Ok(uses.into_values().collect())
}

fn add(uses: &mut BTreeMap<Ends, SocketUse>, ends: Ends, bytes: Option<(u64, u64)>) {
    let (protocol, local, peer) = ends.clone();
    let sockets = uses.entry(ends).or_insert(SocketUse {
        protocol,
        local,
        peer,
        sockets: 0,
        sent_bytes: None,
        received_bytes: None,
    });
    sockets.sockets += 1;
    if let Some((sent, received)) = bytes {
        *sockets.sent_bytes.get_or_insert(0) += sent;
        *sockets.received_bytes.get_or_insert(0) += received;
    }
}

/// A socket's ends, with the bytes that it sent and received where they are counted.
fn looked_at(socket: &SockRef<'_>) -> Option<(Ends, Option<(u64, u64)>)> {
    let protocol = match (socket.domain().ok()?, socket.protocol().ok()?) {
        (Domain::UNIX, _) => SocketProtocol::Local,
        (Domain::IPV4 | Domain::IPV6, Some(Protocol::TCP)) => SocketProtocol::Tcp,
        (Domain::IPV4 | Domain::IPV6, Some(Protocol::UDP)) => SocketProtocol::Udp,
        _ => return None,
    };
    let local = socket.local_addr().ok().as_ref().map(words);
    let peer = socket.peer_addr().ok().as_ref().map(words);
    let is_named = |end: &Option<String>| end.as_deref().is_some_and(|end| end != UNNAMED);
    // A pair within the process, which some libraries wake themselves with.
    if protocol == SocketProtocol::Local && !is_named(&local) && !is_named(&peer) {
        return None;
    }
    let bytes = (protocol == SocketProtocol::Tcp && peer.is_some())
        .then(|| counted(socket))
        .flatten();
    Some(((protocol, local.filter(|local| local != UNNAMED), peer), bytes))
}

/// An address without its port, or the folder of a path.
fn words(address: &SockAddr) -> String {
    match (address.as_socket(), address.as_pathname()) {
        (Some(internet), _) => internet.ip().to_canonical().to_string(),
        (None, Some(path)) => path.parent().unwrap_or(path).display().to_string(),
        (None, None) if address.as_abstract_namespace().is_some() => "abstract".into(),
        (None, None) => UNNAMED.into(),
    }
}

/// The bytes that a TCP connection sent and received; none where the kernel is too old to count both.
fn counted(socket: &SockRef<'_>) -> Option<(u64, u64)> {
    let mut info = [0_u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, and how many it wrote into `length`.
    let code = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let number = |at: usize| {
        let bytes = info[..length as usize].get(at..at + 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    };
    if code != 0 {
        return None;
    }
    number(SENT_AT).zip(number(RECEIVED_AT))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    /// Of all sockets of the test's process, which has other tests' too, those between these ends.
    fn found(protocol: SocketProtocol, local: Option<&str>, peer: Option<&str>) -> SocketUse {
        let is_it = |socket: &SocketUse| {
            (socket.protocol, socket.local.as_deref(), socket.peer.as_deref()) == (protocol, local, peer)
        };
        open().unwrap().into_iter().find(is_it).expect("it is open")
    }

    #[test]
    fn connections_are_told_with_both_addresses_and_the_bytes_that_passed() {
        let listener = TcpListener::bind("127.7.7.7:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[7; 1000]).unwrap();
        server.read_exact(&mut [0; 1000]).unwrap();
        let own = found(SocketProtocol::Tcp, Some("127.0.0.1"), Some("127.7.7.7"));
        assert_eq!(
            (own.sockets, own.sent_bytes, own.received_bytes),
            (1, Some(1000), Some(0))
        );
        let other = found(SocketProtocol::Tcp, Some("127.7.7.7"), Some("127.0.0.1"));
        assert_eq!((other.sent_bytes, other.received_bytes), (Some(0), Some(1000)));
        let listening = found(SocketProtocol::Tcp, Some("127.7.7.7"), None);
        assert_eq!((listening.sockets, listening.sent_bytes), (1, None));
    }

    #[test]
    fn a_socket_without_a_connection_has_no_peer() {
        let _one = UdpSocket::bind("127.7.7.8:0").unwrap();
        let _other = UdpSocket::bind("127.7.7.8:0").unwrap();
        let both = found(SocketProtocol::Udp, Some("127.7.7.8"), None);
        assert_eq!((both.sockets, both.sent_bytes), (2, None));
    }

    #[test]
    fn local_sockets_are_told_by_the_folder_of_their_path_and_pairs_within_the_process_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("s")).unwrap();
        let _client = UnixStream::connect(folder.path().join("s")).unwrap();
        let _server = listener.accept().unwrap();
        let _pair = UnixStream::pair().unwrap();
        let path = folder.path().to_str();
        assert_eq!(found(SocketProtocol::Local, None, path).sockets, 1);
        assert_eq!(found(SocketProtocol::Local, path, Some(UNNAMED)).sockets, 1);
        let is_pair = |socket: &SocketUse| socket.local.is_none() && socket.peer.as_deref() == Some(UNNAMED);
        assert!(!open().unwrap().iter().any(is_pair));
    }
}
