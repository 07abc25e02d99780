//! Whether a broker can be reached: it listens, and answers a client as it should.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use middlemark_contract::Security;
use middlemark_credentials::tls::Certificates;
use rustls::{ClientConnection, StreamOwned};

/// How long the broker may take until it listens.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How long until a linked broker is tried again.
const RETRY: Duration = Duration::from_millis(20);

/// Connects as a client of MQTT 3.1.1 with a clean session and no name, and leaves again.
pub(super) fn greet(mut stream: impl Read + Write, refuses_strangers: bool) -> io::Result<()> {
    const CONNECT: &[u8] = b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x0a\x00\x00";
    const ACCEPTED: [u8; 4] = [0x20, 0x02, 0x00, 0x00];
    const NOT_AUTHORISED: [u8; 4] = [0x20, 0x02, 0x00, 0x05];
    const DISCONNECT: &[u8] = b"\xe0\x00";
    stream.write_all(CONNECT)?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer)?;
    if refuses_strangers && answer == NOT_AUTHORISED {
        return Ok(());
    }
    if refuses_strangers || answer != ACCEPTED {
        let bytes = answer.map(|byte| format!("{byte:02x}")).join(" ");
        return Err(io::Error::other(format!(
            "it answered with the bytes {bytes} in place of {}",
            if refuses_strangers {
                "refusing a stranger"
            } else {
                "accepting a client"
            }
        )));
    }
    stream.write_all(DISCONNECT)
}

/// The same stream over TLS, for a client that shows the broker's own certificate.
pub(super) fn encrypted(
    stream: TcpStream,
    address: IpAddr,
    security: &Security,
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let certificates = Certificates::of(&security.files).map_err(io::Error::other)?;
    let client = certificates.client().map_err(io::Error::other)?;
    let connection = ClientConnection::new(client, address.into()).map_err(io::Error::other)?;
    Ok(StreamOwned::new(connection, stream))
}

/// Waits until a linked broker listens: a bridge that finds nobody comes back only after 5 s or more.
pub(super) fn wait_listening(place: SocketAddr) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let Err(last) = TcpStream::connect_timeout(&place, PATIENCE) else {
            return Ok(());
        };
        if Instant::now() >= deadline {
            let reason = format!("{place} did not listen within {} s: {last}", PATIENCE.as_secs());
            return Err(io::Error::new(last.kind(), reason));
        }
        thread::park_timeout(RETRY);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A broker that has answered with these bytes and takes all that it is sent.
    struct Answering(Cursor<[u8; 4]>);

    impl Read for Answering {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.read(into)
        }
    }

    impl Write for Answering {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_broker_serves_where_it_accepts_a_client_or_with_security_refuses_a_stranger() {
        let greeted = |answer, refuses_strangers| {
            greet(Answering(Cursor::new(answer)), refuses_strangers).map_err(|error| error.to_string())
        };
        assert_eq!(greeted([0x20, 2, 0, 0], false), Ok(()));
        assert_eq!(greeted([0x20, 2, 0, 5], true), Ok(()));
        assert_eq!(
            greeted([0x20, 2, 0, 5], false).unwrap_err(),
            "it answered with the bytes 20 02 00 05 in place of accepting a client"
        );
        assert_eq!(
            greeted([0x20, 2, 0, 0], true).unwrap_err(),
            "it answered with the bytes 20 02 00 00 in place of refusing a stranger"
        );
    }
}
