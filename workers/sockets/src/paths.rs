//! Sockets in the file system: a path that a killed application has left is taken from it, and from nobody else.
//!
//! `session` binds them and removes them.

use std::io;
use std::path::Path;

use socket2::{SockAddr, Socket};

use crate::connection::Kind;

/// Removes a socket's path that a subscriber which was killed has left; one that is still bound is somebody's.
pub(crate) fn remove_if_left(path: &Path, address: &SockAddr, kind: Kind) -> io::Result<()> {
    let asking = Socket::new(address.domain(), kind.socket_type(), None)?;
    asking.set_nonblocking(true)?;
    match asking.connect(address) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // unix(7): to a path that no socket is bound to any more. Whatever else is answered, somebody answers.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => remove_if_there(path),
        _ => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "a living socket is bound to this path; is another application of this trial's name still there?",
        )),
    }
}

pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 3] = [Kind::Datagram, Kind::Packet, Kind::Stream];

    fn bound(kind: Kind, address: &SockAddr) -> Socket {
        let socket = Socket::new(address.domain(), kind.socket_type(), None).unwrap();
        socket.bind(address).unwrap();
        if kind != Kind::Datagram {
            socket.listen(1).unwrap();
        }
        socket
    }

    #[test]
    fn a_path_is_taken_from_the_dead_and_from_nobody_else() {
        for kind in KINDS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("socket");
            let address = SockAddr::unix(&path).unwrap();
            assert!(
                remove_if_left(&path, &address, kind).is_ok(),
                "{kind:?}: nothing is there"
            );
            let living = bound(kind, &address);
            for asking in KINDS {
                let error = remove_if_left(&path, &address, asking).unwrap_err();
                assert_eq!(
                    (error.kind(), path.exists()),
                    (io::ErrorKind::AddrInUse, true),
                    "{kind:?}"
                );
            }
            drop(living);
            assert!(path.exists(), "{kind:?}: a killed one leaves its path");
            remove_if_left(&path, &address, kind).unwrap();
            assert!(!path.exists(), "{kind:?}");
        }
    }
}
