//! TLS 1.3 on the connections of TCP: both ends show a certificate, and each looks for the right that the other needs.
//!
//! `handshake` brings two ends together, `stream` carries messages, `credentials` makes certificates; what is offered is
//! for `middlemark-credentials` to say.

pub(crate) mod credentials;
mod handshake;
mod held;
mod stream;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::time::Duration;

use middlemark_contract::{Role, Security, SecurityLevel};
use middlemark_credentials::tls::{CIPHER_SUITE, Certificates, KEY_EXCHANGE};
use middlemark_runtime::{Channel, MiddlewareError};
use middlemark_sockets::{BothWays, Guard, GuardedWriter, Incoming};
use rustls::client::{UnbufferedClientConnection, verify_server_name};
use rustls::pki_types::ServerName;
use rustls::server::{ParsedCertificate, UnbufferedServerConnection};
use rustls::{ClientConfig, ServerConfig};
use socket2::Socket;

use self::credentials::right;
use self::handshake::{Wire, answer, refused, shake_hands, wait_for_answer};
use self::held::Alone;
use self::stream::{TlsReader, TlsWriter, both_ways};

/// An end that says nothing for so long during the handshake is given up.
const PATIENCE: Duration = Duration::from_secs(1);

/// The two sides of TLS that an application needs: it joins as a client where it publishes, and serves where it subscribes.
pub(crate) struct Tls {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl Tls {
    /// With the certificates of an application's spec.
    pub(crate) fn of(security: &Security) -> Result<Tls, MiddlewareError> {
        let certificates = Certificates::of(&security.files)?;
        Ok(Tls {
            client: certificates.client()?,
            server: certificates.server()?,
        })
    }
}

impl Guard for Tls {
    fn level(&self) -> SecurityLevel {
        SecurityLevel::Encrypted
    }

    fn stated(&self) -> BTreeMap<String, String> {
        [
            (
                "tls",
                "1.3, both ends with certificates (rustls on ring); no resumption, no early data",
            ),
            ("tls cipher suite", CIPHER_SUITE),
            ("tls key exchange", KEY_EXCHANGE),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    fn join(&self, socket: Arc<Socket>, channel: &Channel) -> io::Result<Box<dyn GuardedWriter>> {
        let (connection, _) = self.joined(&socket, channel)?;
        Ok(Box::new(TlsWriter::new(Alone(connection), socket)))
    }

    fn join_both_ways(&self, incoming: Incoming, channel: &Channel) -> io::Result<BothWays> {
        let (connection, wire) = self.joined(incoming.socket(), channel)?;
        Ok(both_ways(connection, wire, incoming))
    }

    fn admit(&self, incoming: Incoming, channel: &Channel) -> io::Result<Box<dyn Read>> {
        let (connection, wire) = self.admitted(incoming.socket(), channel)?;
        Ok(Box::new(TlsReader::new(Alone(connection), wire, incoming)))
    }

    fn admit_both_ways(&self, incoming: Incoming, channel: &Channel) -> io::Result<BothWays> {
        let (connection, wire) = self.admitted(incoming.socket(), channel)?;
        Ok(both_ways(connection, wire, incoming))
    }
}

impl Tls {
    /// The handshake of who publishes or asks; what has come beyond it waits in the wire.
    fn joined(&self, socket: &Socket, channel: &Channel) -> io::Result<(UnbufferedClientConnection, Wire)> {
        socket.set_read_timeout(Some(PATIENCE))?;
        let name = ServerName::try_from(right(Role::Subscriber, channel.number)).map_err(io::Error::other)?;
        let mut connection = UnbufferedClientConnection::new(self.client.clone(), name).map_err(refused)?;
        let mut wire = Wire::default();
        shake_hands(&mut connection, &mut wire, socket)?;
        wait_for_answer(&mut connection, &mut wire, socket)?;
        socket.set_read_timeout(None)?;
        Ok((connection, wire))
    }

    /// The handshake of who subscribes or serves.
    fn admitted(&self, socket: &Socket, channel: &Channel) -> io::Result<(UnbufferedServerConnection, Wire)> {
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut connection = UnbufferedServerConnection::new(self.server.clone()).map_err(refused)?;
        let mut wire = Wire::default();
        shake_hands(&mut connection, &mut wire, socket)?;
        let is_publisher = may(&connection, &right(Role::Publisher, channel.number));
        answer(&mut connection, is_publisher, socket)?;
        if !is_publisher {
            let message = "its certificate does not let the peer publish here";
            return Err(io::Error::new(ErrorKind::PermissionDenied, message));
        }
        socket.set_read_timeout(None)?;
        Ok((connection, wire))
    }
}

/// Whether the peer's certificate, which the trial's authority has signed, has this name.
fn may(connection: &UnbufferedServerConnection, name: &str) -> bool {
    let shown = connection.peer_certificates().and_then(<[_]>::first);
    let Some(certificate) = shown.and_then(|shown| ParsedCertificate::try_from(shown).ok()) else {
        return false;
    };
    ServerName::try_from(name).is_ok_and(|name| verify_server_name(&certificate, &name).is_ok())
}

#[cfg(test)]
mod tests;
