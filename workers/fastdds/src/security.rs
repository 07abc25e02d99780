//! DDS Security as Fast DDS is told of it: properties of the participant, which name files. It reads them while it makes
//! the participant, and they are gone right after.

use std::path::Path;

use middlemark_contract::{Refusal, SecretFiles, SecurityLevel};
use middlemark_credentials::SecretFolder;
use middlemark_dds::Matches;
use middlemark_dds::security::{self, Properties};
use middlemark_runtime::{MiddlewareError, Options};

use crate::shim::{self, ShimSession};
use crate::transport::Transport;

const PLUGINS: [(&str, &str); 3] = [
    ("dds.sec.auth.plugin", "builtin.PKI-DH"),
    ("dds.sec.access.plugin", "builtin.Access-Permissions"),
    ("dds.sec.crypto.plugin", "builtin.AES-GCM-GMAC"),
];

/// Each file by its property.
const FILES: [(&str, &str); 6] = [
    ("dds.sec.auth.builtin.PKI-DH.identity_ca", security::IDENTITY_AUTHORITY),
    (
        "dds.sec.auth.builtin.PKI-DH.identity_certificate",
        security::CERTIFICATE,
    ),
    ("dds.sec.auth.builtin.PKI-DH.private_key", security::KEY),
    (
        "dds.sec.access.builtin.Access-Permissions.permissions_ca",
        security::PERMISSIONS_AUTHORITY,
    ),
    (
        "dds.sec.access.builtin.Access-Permissions.governance",
        security::GOVERNANCE,
    ),
    (
        "dds.sec.access.builtin.Access-Permissions.permissions",
        security::PERMISSIONS,
    ),
];

/// The properties of an application with these credentials, and the folder that has to stay until its participant is made.
pub(crate) fn properties(
    trial: &Path,
    application: &str,
    files: &SecretFiles,
) -> Result<(Properties, SecretFolder), MiddlewareError> {
    let folder = SecretFolder::write(trial, application, files)?;
    let plugins = PLUGINS.map(|(property, plugin)| (property.to_owned(), plugin.to_owned()));
    let files = FILES.map(|(property, file)| (property.to_owned(), format!("file://{}", folder.path(file).display())));
    Ok((Properties::of(plugins.into_iter().chain(files))?, folder))
}

/// Refuses what can't be had at a level of security.
pub(crate) fn accept(level: SecurityLevel, options: &Options) -> Result<(), Refusal> {
    let refuse = |reason: &str| {
        Err(Refusal {
            capability: "security".into(),
            reason: format!("it can't be {level} {reason}"),
        })
    };
    if Transport::of(options) == Transport::DataSharing {
        return refuse(
            "with transport 'data_sharing', which the library refuses under security; allowed: default, udp, shm",
        );
    }
    if options.text("discovery") == "server" {
        return refuse("with discovery 'server', whose servers get no credentials yet; allowed: multicast, peers");
    }
    Ok(())
}

/// What a session's matches are told with: with security how long its participant's handshakes took.
pub(crate) fn matches(handle: *mut ShimSession, level: Option<SecurityLevel>) -> Matches {
    if level.is_none() {
        return Matches::default();
    }
    let session = handle as usize;
    Matches::after_handshakes(move || {
        // SAFETY: it is asked when a writer is matched, and no writer is any more when the session is closed.
        let longest_ns = unsafe { shim::mm_longest_handshake_ns(session as *mut ShimSession) };
        (longest_ns >= 0).then_some(longest_ns)
    })
}
