//! The lines of a broker's configuration that keep strangers out: of the broker, of each listener, of each bridge.
//!
//! Mosquitto has no other way than files to be given users, rules and certificates.

use middlemark_contract::{Security, SecurityLevel, ServiceSpec};
use middlemark_credentials::SecretFolder;
use middlemark_credentials::tls::{AUTHORITY, CERTIFICATE, CIPHER_SUITE, KEY};

use crate::configuration::Line;
use crate::credentials::{self, PASSWORDS, RULES};

/// What the user of a bridge proves its name with, where that is no file: it is in the configuration itself.
pub(crate) const BRIDGE_PASSWORD: &str = "remote_password";

/// The level that a broker has to keep, and the folder with its files.
#[derive(Clone, Copy)]
pub(super) struct Secured<'a> {
    security: &'a Security,
    folder: &'a SecretFolder,
}

impl<'a> Secured<'a> {
    /// None where the broker is open to all.
    pub(super) fn of(spec: &'a ServiceSpec, folder: Option<&'a SecretFolder>) -> Option<Secured<'a>> {
        let security = spec.security.as_ref()?;
        folder.map(|folder| Secured { security, folder })
    }

    fn file(self, name: &str) -> String {
        self.folder.path(name).display().to_string()
    }

    /// Who is let in, and who may do what.
    pub(super) fn of_broker(self) -> Vec<Line> {
        let mut lines = vec![("acl_file", self.file(RULES))];
        if self.security.level == SecurityLevel::Authenticated {
            lines.push(("password_file", self.file(PASSWORDS)));
        }
        lines
    }

    /// What a client has to show where it connects.
    pub(super) fn of_listener(self) -> Vec<Line> {
        match self.security.level {
            SecurityLevel::Authenticated => Vec::new(),
            SecurityLevel::Encrypted => vec![
                ("cafile", self.file(AUTHORITY)),
                ("certfile", self.file(CERTIFICATE)),
                ("keyfile", self.file(KEY)),
                ("require_certificate", "true".into()),
                ("use_identity_as_username", "true".into()),
                ("tls_version", "tlsv1.3".into()),
                // The client offers no other; the bridges of others would.
                ("ciphers_tls1.3", CIPHER_SUITE.into()),
            ],
        }
    }

    /// What a bridge shows at the other broker.
    pub(super) fn of_bridge(self, index: u16) -> Result<Vec<Line>, String> {
        Ok(match credentials::password(self.security)? {
            Some(password) => vec![
                ("remote_username", credentials::broker_user(index)),
                (BRIDGE_PASSWORD, password.into()),
            ],
            None => vec![
                ("bridge_cafile", self.file(AUTHORITY)),
                ("bridge_certfile", self.file(CERTIFICATE)),
                ("bridge_keyfile", self.file(KEY)),
                ("bridge_tls_version", "tlsv1.3".into()),
            ],
        })
    }
}
