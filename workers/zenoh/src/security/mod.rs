//! How strangers are kept out: certificates for links over TLS and QUIC, users with passwords for links in the clear.
//!
//! `credentials` makes them, `rules` says what each process may do; here is what Zenoh is told of both. Who accepts a link
//! learns who makes it either way, but who makes it learns who accepts it by a certificate alone.

mod credentials;
mod directions;
mod rules;

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use middlemark_contract::{
    ApplicationSpec, OptionValue, Refusal, SecretFiles, Security, SecurityLevel, ServiceSpec, StreamSpec,
};
use middlemark_credentials::SecretFolder;
use middlemark_credentials::tls::{AUTHORITY, CERTIFICATE, CIPHER_SUITE, KEY, KEY_EXCHANGE, provider};
use middlemark_runtime::{MiddlewareError, Options};
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use serde_json::{Value, json};

use crate::description;

pub(crate) use self::credentials::made;

/// A key of Zenoh's configuration with its value.
pub(crate) type Key = (&'static str, Value);

/// The file of an application with its password, of a router with those of all, and of both with the rules.
const PASSWORD: &str = "password";
const PASSWORDS: &str = "passwords";
const RULES: &str = "access_control.json";

/// The options as a level of security leaves them: what lies in shared memory is not encrypted.
pub(crate) fn kept(
    level: Option<SecurityLevel>,
    options: &Options,
    profile: &str,
    set: &BTreeMap<String, OptionValue>,
) -> Result<Options, Refusal> {
    if level != Some(SecurityLevel::Encrypted) {
        return Ok(options.clone());
    }
    let mut set = set.clone();
    set.extend(["shared_memory", "zero_copy"].map(|name| (name.to_owned(), OptionValue::Boolean(false))));
    Options::resolve(&description::describe(), profile, &set)
}

/// Refuses what a level can't be had with.
pub(crate) fn accept(level: Option<SecurityLevel>, options: &Options, streams: &[StreamSpec]) -> Result<(), Refusal> {
    let transport = options.text("transport");
    match level {
        None | Some(SecurityLevel::Authenticated) if transport == "quic" => refuse(
            "transport 'quic' always encrypts, by certificates that a trial with security 'encrypted' alone has".into(),
        ),
        Some(SecurityLevel::Authenticated) if options.text("mode") == "peer" => refuse(
            "it can't be authenticated between peers: in Zenoh's usrpwd who accepts a link learns the user of who makes it, \
             but not the other way round, so that neither a stranger who accepts links nor its messages are known; ask for \
             mode 'client', or for encrypted"
                .into(),
        ),
        Some(SecurityLevel::Encrypted) if !["tcp", "quic"].contains(&transport) => refuse(format!(
            "it can't be encrypted over transport '{transport}': Zenoh has TLS over TCP, and QUIC; allowed: tcp, quic"
        )),
        Some(SecurityLevel::Encrypted) if transport == "tcp" => {
            directions::accept(streams, options.text("mode") == "client")
        }
        _ => Ok(()),
    }
}

fn refuse(reason: String) -> Result<(), Refusal> {
    Err(Refusal {
        capability: "security".into(),
        reason,
    })
}

/// How one process keeps strangers out, as Zenoh is told it. It has to stay until the session is open, and no longer.
#[derive(Default)]
pub(crate) struct Secured {
    /// Zenoh's name of what links speak.
    pub(crate) protocol: String,
    pub(crate) keys: Vec<Key>,
    /// Those whose values nobody else may read.
    pub(crate) secrets: Vec<Key>,
    /// What Zenoh reads from a file.
    _folder: Option<SecretFolder>,
}

impl Secured {
    /// An application.
    pub(crate) fn application(spec: &ApplicationSpec, options: &Options) -> Result<Secured, MiddlewareError> {
        Secured::of(spec.security.as_ref(), options, |files| {
            with_password(&spec.application, files)
        })
    }

    /// A router.
    pub(crate) fn router(spec: &ServiceSpec, options: &Options) -> Result<Secured, MiddlewareError> {
        Secured::of(spec.security.as_ref(), options, |files| {
            let process = format!("{}_{}", spec.service, spec.index);
            asking_for_passwords(&spec.rendezvous.folder, &process, files)
        })
    }

    fn of(
        security: Option<&Security>,
        options: &Options,
        authenticated: impl FnOnce(&SecretFiles) -> Result<Secured, MiddlewareError>,
    ) -> Result<Secured, MiddlewareError> {
        let level = security.map(|security| security.level);
        let protocol = protocol(level, options);
        let told = match security {
            None => Secured::default(),
            Some(security) if security.level == SecurityLevel::Encrypted => encrypted(&security.files, protocol)?,
            Some(security) => authenticated(&security.files)?,
        };
        Ok(Secured {
            protocol: protocol.to_owned(),
            ..told
        })
    }
}

/// Zenoh's name of what links speak.
fn protocol(level: Option<SecurityLevel>, options: &Options) -> &str {
    match (level, options.text("transport")) {
        (Some(SecurityLevel::Encrypted), "tcp") => "tls",
        (_, transport) => transport,
    }
}

fn encrypted(files: &SecretFiles, protocol: &str) -> Result<Secured, MiddlewareError> {
    offer_one_cipher_suite(protocol);
    let file = |name| files.text(name).map(|text| json!(BASE64_STANDARD.encode(text)));
    Ok(Secured {
        keys: vec![
            // Whoever is found with another protocol is left alone.
            ("transport/link/protocols", json!([protocol])),
            ("transport/link/tls/enable_mtls", json!(true)),
            ("access_control", rules(files)?),
        ],
        secrets: vec![
            ("transport/link/tls/root_ca_certificate_base64", file(AUTHORITY)?),
            ("transport/link/tls/listen_certificate_base64", file(CERTIFICATE)?),
            ("transport/link/tls/listen_private_key_base64", file(KEY)?),
            ("transport/link/tls/connect_certificate_base64", file(CERTIFICATE)?),
            ("transport/link/tls/connect_private_key_base64", file(KEY)?),
        ],
        ..Secured::default()
    })
}

/// A client believes its router, which alone knows who its clients are.
fn with_password(user: &str, files: &SecretFiles) -> Result<Secured, MiddlewareError> {
    Ok(Secured {
        keys: vec![("transport/auth/usrpwd/user", json!(user))],
        secrets: vec![("transport/auth/usrpwd/password", json!(files.text(PASSWORD)?))],
        ..Secured::default()
    })
}

fn asking_for_passwords(trial: &Path, process: &str, files: &SecretFiles) -> Result<Secured, MiddlewareError> {
    let passwords = SecretFiles::of([(PASSWORDS, files.text(PASSWORDS)?.to_owned())]);
    let folder = SecretFolder::write(trial, process, &passwords)
        .map_err(|source| format!("writing the users' passwords: {source}"))?;
    Ok(Secured {
        keys: vec![
            (
                "transport/auth/usrpwd/dictionary_file",
                json!(folder.path(PASSWORDS).display().to_string()),
            ),
            ("access_control", rules(files)?),
        ],
        _folder: Some(folder),
        ..Secured::default()
    })
}

fn rules(files: &SecretFiles) -> Result<Value, MiddlewareError> {
    Ok(serde_json::from_str(files.text(RULES)?)?)
}

/// Zenoh takes the process's own provider where there is one. It doesn't tell what is negotiated: what alone is offered.
fn offer_one_cipher_suite(protocol: &str) {
    let mut provider = provider();
    if protocol == "quic" {
        // QUIC encrypts its first packets with this one (RFC 9001, 5.2), so that it has to be there; as the second.
        provider.cipher_suites.push(TLS13_AES_128_GCM_SHA256);
    }
    // Fails only where this process has opened a session before, with the same.
    let _ = provider.install_default();
}

/// What is in force of a level, in words.
pub(crate) fn stated(level: Option<SecurityLevel>, protocol: &str) -> BTreeMap<String, String> {
    let words: &[(&str, &str)] = match level {
        None => &[],
        Some(SecurityLevel::Authenticated) => &[(
            "usrpwd",
            "the router knows its clients by user and password (an HMAC of the password with the router's nonce as key); \
             messages are in the clear",
        )],
        Some(SecurityLevel::Encrypted) => &[
            (
                "tls",
                "1.3, both ends with certificates (rustls on ring); no session is resumed",
            ),
            ("tls cipher suite", CIPHER_SUITE),
            ("tls key exchange", KEY_EXCHANGE),
        ],
    };
    let mut stated: BTreeMap<_, _> = words
        .iter()
        .map(|(what, how)| ((*what).into(), (*how).into()))
        .collect();
    if protocol == "quic" {
        let second = format!("{CIPHER_SUITE}, which both ends prefer to TLS_AES_128_GCM_SHA256");
        stated.insert("tls cipher suite".into(), second);
    }
    stated
}

#[cfg(test)]
mod tests;
