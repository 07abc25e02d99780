//! TLS 1.3 by the certificates of a trial, with rustls on ring, at both ends.
//!
//! One cipher suite and one group for keys are offered, so that what is negotiated is known; no session is resumed and
//! nothing is sent early. Connections are for a worker to make.

use std::error::Error;
use std::sync::Arc;

use middlemark_contract::SecretFiles;
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{cipher_suite::TLS13_AES_256_GCM_SHA384, default_provider, kx_group::X25519};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::authority::{Authority, Identity};

/// The file with the certificate of who has signed all others of the trial.
pub const AUTHORITY: &str = "authority.pem";
/// The file with the process's own certificate.
pub const CERTIFICATE: &str = "certificate.pem";
/// The file with its private key.
pub const KEY: &str = "key.pem";

/// The one cipher suite, by its name in RFC 8446.
pub const CIPHER_SUITE: &str = "TLS_AES_256_GCM_SHA384";
/// The one group for keys.
pub const KEY_EXCHANGE: &str = "X25519";

/// What one process of a trial is given.
#[must_use]
pub fn files(authority: &Authority, identity: Identity) -> SecretFiles {
    SecretFiles::of([
        (AUTHORITY, authority.certificate()),
        (CERTIFICATE, identity.certificate),
        (KEY, identity.key),
    ])
}

/// rustls's provider on ring, with what is negotiated alone.
#[must_use]
pub fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![TLS13_AES_256_GCM_SHA384],
        kx_groups: vec![X25519],
        ..default_provider()
    }
}

/// The certificates of one process, read.
pub struct Certificates {
    authorities: Arc<RootCertStore>,
    own: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Certificates {
    /// Of the files of a process.
    ///
    /// # Errors
    /// A file is not there or is none.
    pub fn of(files: &SecretFiles) -> Result<Certificates, Box<dyn Error + Send + Sync>> {
        let mut authorities = RootCertStore::empty();
        authorities.add(CertificateDer::from_pem_slice(files.text(AUTHORITY)?.as_bytes())?)?;
        Ok(Certificates {
            authorities: Arc::new(authorities),
            own: vec![CertificateDer::from_pem_slice(files.text(CERTIFICATE)?.as_bytes())?],
            key: PrivateKeyDer::from_pem_slice(files.text(KEY)?.as_bytes())?,
        })
    }

    /// For who connects: it shows its certificate, and takes a server of the trial at the name or address that it
    /// connects to.
    ///
    /// # Errors
    /// Key and certificate don't fit.
    pub fn client(&self) -> Result<Arc<ClientConfig>, Box<dyn Error + Send + Sync>> {
        let mut client = ClientConfig::builder_with_provider(Arc::new(provider()))
            .with_protocol_versions(&[&TLS13])?
            .with_root_certificates(self.authorities.clone())
            .with_client_auth_cert(self.own.clone(), self.key.clone_key())?;
        client.resumption = Resumption::disabled();
        Ok(Arc::new(client))
    }

    /// For who listens: it shows its certificate, and takes clients of the trial alone.
    ///
    /// # Errors
    /// Key and certificate don't fit.
    pub fn server(&self) -> Result<Arc<ServerConfig>, Box<dyn Error + Send + Sync>> {
        let provider = Arc::new(provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(self.authorities.clone(), provider.clone()).build()?;
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(verifier)
            .with_single_cert(self.own.clone(), self.key.clone_key())?;
        server.send_tls13_tickets = 0;
        server.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(Arc::new(server))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let authority = Authority::new("trial").unwrap();
        let mut files = files(&authority, authority.identify("a", &[], &[]).unwrap());
        assert!(Certificates::of(&files).is_ok_and(|read| read.client().is_ok() && read.server().is_ok()));
        files.0.remove(KEY);
        let error = Certificates::of(&files).err().unwrap().to_string();
        assert_eq!(
            error,
            "the credentials have no key.pem, only authority.pem, certificate.pem"
        );
    }
}
