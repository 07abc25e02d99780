//! An authority that lives as long as one call of `credentials`, and the identities that it signs.

use std::collections::BTreeMap;
use std::net::IpAddr;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SanType,
};
use time::{Duration, OffsetDateTime};

/// With what certificates are signed, in words.
pub const ALGORITHM: &str = "ECDSA P-256 with SHA-256";

/// For how long certificates are valid: from an hour before they are made, as clocks of hosts differ, to a day after.
pub const VALID_FOR: &str = "1 day";

/// A certificate could not be made.
#[derive(Debug, thiserror::Error)]
#[error("making the certificate of '{name}'")]
pub struct AuthorityError {
    name: String,
    source: rcgen::Error,
}

/// Who signs the certificates of a trial; its key is in memory alone, and goes with it.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its private key, in PKCS #8.
    pub key: String,
}

impl Authority {
    /// A new one, by this common name.
    pub fn new(name: &str) -> Result<Authority, AuthorityError> {
        let failed = |source| AuthorityError {
            name: name.into(),
            source,
        };
        let mut parameters = parameters(name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
        let issuer = CertifiedIssuer::self_signed(parameters, key).map_err(failed)?;
        Ok(Authority { issuer })
    }

    /// Its own certificate, in PEM: what every process of the trial trusts.
    #[must_use]
    pub fn certificate(&self) -> String {
        self.issuer.pem()
    }

    /// Its private key, in PEM: for who has documents to sign beside certificates. It is given to no process.
    #[must_use]
    pub fn key(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// A new identity by this common name, as client and as server; `names` (of DNS) and `addresses` are what else the
    /// certificate speaks for.
    pub fn identify(&self, name: &str, names: &[String], addresses: &[IpAddr]) -> Result<Identity, AuthorityError> {
        let failed = |source| AuthorityError {
            name: name.into(),
            source,
        };
        let mut parameters = parameters(name);
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        parameters.use_authority_key_identifier_extension = true;
        for name in names {
            let name = name.as_str().try_into().map_err(failed)?;
            parameters.subject_alt_names.push(SanType::DnsName(name));
        }
        let addresses = addresses.iter().copied().map(SanType::IpAddress);
        parameters.subject_alt_names.extend(addresses);
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
        let certificate = parameters.signed_by(&key, &self.issuer).map_err(failed)?;
        Ok(Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }

    /// How its certificates are made, in words, for the results.
    #[must_use]
    pub fn stated(&self) -> BTreeMap<String, String> {
        [("certificates", ALGORITHM), ("certificates are valid for", VALID_FOR)]
            .map(|(what, how)| (what.to_owned(), how.to_owned()))
            .into()
    }
}

/// From when until when what is made now is valid: [`VALID_FOR`].
#[must_use]
pub fn validity() -> [OffsetDateTime; 2] {
    let now = OffsetDateTime::now_utc();
    [now - Duration::HOUR, now + Duration::DAY]
}

fn parameters(name: &str) -> CertificateParams {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = distinguished;
    [parameters.not_before, parameters.not_after] = validity();
    parameters
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn every_authority_and_every_identity_has_a_key_of_its_own() {
        let (one, other) = (Authority::new("trial").unwrap(), Authority::new("trial").unwrap());
        let here = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
        let identities = [&one, &one, &other].map(|authority| authority.identify("a", &[], &here).unwrap());
        let mut keys: Vec<_> = identities.iter().map(|identity| identity.key.clone()).collect();
        keys.extend([one.key(), other.key()]);
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 5);
        assert!(keys.iter().all(|key| key.starts_with("-----BEGIN PRIVATE KEY-----")));
    }

    #[test]
    fn a_name_that_no_certificate_can_have_is_named() {
        let authority = Authority::new("trial").unwrap();
        let error = authority.identify("a", &["näme".into()], &[]).err().unwrap();
        assert_eq!(error.to_string(), "making the certificate of 'a'");
    }
}
