//! DDS Security: what each application of a trial proves with who it is and what it may do, and how a participant is told.
//!
//! The plugins are those that every implementation has built in: authentication by `DDS:Auth:PKI-DH`, permissions by
//! `DDS:Access:Permissions`, cryptography by `DDS:Crypto:AES-GCM-GMAC`. How each of them wants its properties is the worker's own.

mod document;
mod governance;
mod grant;
mod layers;
mod permissions;
mod properties;
mod signature;

use std::collections::BTreeMap;

use middlemark_contract::{CredentialsRequest, CredentialsSet, SecretFiles, SecurityDescription, SecurityLevel};
use middlemark_credentials::{Authority, validity};
use middlemark_runtime::MiddlewareError;

use grant::Grant;
pub use layers::{Layers, option};
pub use properties::{Properties, ShimProperty};

/// The files of an application.
pub const IDENTITY_AUTHORITY: &str = "identity_ca.pem";
/// Its own certificate.
pub const CERTIFICATE: &str = "certificate.pem";
/// The certificate's private key.
pub const KEY: &str = "private_key.pem";
/// Whose signature governance and permissions have.
pub const PERMISSIONS_AUTHORITY: &str = "permissions_ca.pem";
/// What holds for everyone, signed.
pub const GOVERNANCE: &str = "governance.p7s";
/// What the application may do, signed.
pub const PERMISSIONS: &str = "permissions.p7s";

/// Both levels, as every worker of DDS Security has them; with the reason where its library lets no handshake be seen.
#[must_use]
pub fn levels(handshake_untold: Option<&str>) -> Vec<SecurityDescription> {
    let described = |level| {
        let how = format!(
            "DDS Security: certificates (PKI-DH), signed permissions for the application's topics alone, {}.",
            words(level, Layers::Every)
        );
        SecurityDescription {
            handshake_untold: handshake_untold.map(str::to_owned),
            ..SecurityDescription::by_credentials(level, how)
        }
    };
    SecurityLevel::ALL.map(described).into()
}

/// States how messages are protected at this level, among settings that have all options.
pub fn state(level: Option<SecurityLevel>, settings: &mut BTreeMap<String, String>) {
    if let Some(level) = level {
        let layers = Layers::named(&settings[layers::PROTECTION]);
        settings.insert("security".into(), words(level, layers));
    }
}

/// How messages are protected, by what both libraries use where nothing else is configured.
fn words(level: SecurityLevel, layers: Layers) -> String {
    let kind = match level {
        SecurityLevel::Authenticated => "SIGN",
        SecurityLevel::Encrypted => "ENCRYPT",
    };
    format!("{kind} of {} by {}", layers.words(), cipher(level))
}

fn cipher(level: SecurityLevel) -> &'static str {
    match level {
        SecurityLevel::Authenticated => "AES256-GMAC",
        SecurityLevel::Encrypted => "AES256-GCM",
    }
}

/// Makes the credentials of one trial, with two authorities of its own: one signs certificates, the other documents.
///
/// # Errors
/// What could not be made or signed.
pub fn credentials(request: &CredentialsRequest, layers: Layers) -> Result<CredentialsSet, MiddlewareError> {
    let identities = Authority::new("identities")?;
    let permissions = Authority::new("permissions")?;
    let domain = request.rendezvous.domain;
    let sign = |document: &str| signature::signed(document, &permissions.certificate(), &permissions.key());
    let governance = sign(&governance::render(domain, request.level, layers)?)?;
    let mut applications = BTreeMap::new();
    for application in &request.applications {
        let grant = Grant::of(application, request);
        let identity = identities.identify(&grant.application, &[], &[])?;
        let own = permissions::render(&grant, domain, validity())?;
        let files = SecretFiles::of([
            (IDENTITY_AUTHORITY, identities.certificate()),
            (CERTIFICATE, identity.certificate),
            (KEY, identity.key),
            (PERMISSIONS_AUTHORITY, permissions.certificate()),
            (GOVERNANCE, governance.clone()),
            (PERMISSIONS, sign(&own)?),
        ]);
        applications.insert(grant.application, files);
    }
    let mut stated = identities.stated();
    stated.insert(
        "plugins".into(),
        "DDS:Auth:PKI-DH, DDS:Access:Permissions, DDS:Crypto:AES-GCM-GMAC".into(),
    );
    stated.insert("messages".into(), words(request.level, layers));
    Ok(CredentialsSet {
        applications,
        services: Vec::new(),
        stated,
    })
}

#[cfg(test)]
mod tests;
