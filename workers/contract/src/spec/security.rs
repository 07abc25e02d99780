//! Security: which levels a worker has, what it makes for a trial that requests one, and what each process gets of that.
//!
//! What the files of [`Security`] hold only their worker knows; the front passes them on unopened.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Endpoint, OptionValue, Refusal, Rendezvous, StreamSpec};

/// How safe from strangers messages are; a trial without any level is open to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecurityLevel {
    /// Both ends prove who they are before a message passes; messages can be read on their way.
    Authenticated,
    /// The same, and messages can't be read on their way.
    Encrypted,
}

impl SecurityLevel {
    /// All there are.
    pub const ALL: [SecurityLevel; 2] = [SecurityLevel::Authenticated, SecurityLevel::Encrypted];
}

impl fmt::Display for SecurityLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            SecurityLevel::Authenticated => "authenticated",
            SecurityLevel::Encrypted => "encrypted",
        })
    }
}

/// A level that a trial can request, and what it means with this middleware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecurityDescription {
    /// Which.
    pub level: SecurityLevel,
    /// How it is done, in one sentence.
    pub how: String,
    /// What tells an application of the trial from a stranger.
    pub identity: Identity,
    /// Whether an application may only use the streams of its own endpoints, and only in its own role.
    pub by_stream: bool,
    /// Why it is not told how long the handshake took by which both ends prove who they are; none where it is told with the
    /// match, and where there is no handshake, as the kernel vouches for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_untold: Option<String>,
}

impl SecurityDescription {
    /// A level at which each application shows what was made for it, and may use its own streams alone.
    #[must_use]
    pub fn by_credentials(level: SecurityLevel, how: impl Into<String>) -> SecurityDescription {
        SecurityDescription {
            level,
            how: how.into(),
            identity: Identity::Credentials,
            by_stream: true,
            handshake_untold: None,
        }
    }

    /// The level at which the kernel vouches for the user that an application runs as, whatever its streams.
    #[must_use]
    pub fn by_user(how: &str) -> SecurityDescription {
        SecurityDescription {
            level: SecurityLevel::Authenticated,
            how: how.into(),
            identity: Identity::User,
            by_stream: false,
            handshake_untold: None,
        }
    }

    /// The same, where its handshake can't be told apart.
    #[must_use]
    pub fn with_untold_handshake(self, why: &str) -> SecurityDescription {
        SecurityDescription {
            handshake_untold: Some(why.into()),
            ..self
        }
    }
}

/// What tells an application of a trial from a stranger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// The files that the command `credentials` made for it: a certificate, a password.
    Credentials,
    /// The user of the operating system that it runs as, which the kernel vouches for.
    User,
}

/// A level that can't be had, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LackingSecurity {
    /// Which.
    pub level: SecurityLevel,
    /// Why, in one sentence.
    pub reason: String,
}

impl LackingSecurity {
    /// One level, for this reason.
    #[must_use]
    pub fn of(level: SecurityLevel, reason: &str) -> LackingSecurity {
        LackingSecurity {
            level,
            reason: reason.into(),
        }
    }

    /// All levels, for one reason.
    #[must_use]
    pub fn of_all(reason: &str) -> Vec<LackingSecurity> {
        SecurityLevel::ALL
            .map(|level| LackingSecurity::of(level, reason))
            .into()
    }
}

/// Texts by file name: certificates, keys, rules. They hold secrets, so that `Debug` shows their names alone.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SecretFiles(pub BTreeMap<String, String>);

impl SecretFiles {
    /// These texts by these names.
    #[must_use]
    pub fn of<const COUNT: usize>(files: [(&str, String); COUNT]) -> SecretFiles {
        SecretFiles(files.map(|(name, text)| (name.to_owned(), text)).into())
    }

    /// The text of a file.
    ///
    /// # Errors
    /// It was not given; in words.
    pub fn text(&self, name: &str) -> Result<&str, String> {
        let found = self.0.get(name).map(String::as_str);
        found.ok_or_else(|| {
            let names: Vec<_> = self.0.keys().map(String::as_str).collect();
            format!("the credentials have no {name}, only {}", names.join(", "))
        })
    }
}

impl fmt::Debug for SecretFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

/// What an application or a service of a trial with security is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Security {
    /// The level that it has to keep, or refuse.
    pub level: SecurityLevel,
    /// What its worker made for it.
    pub files: SecretFiles,
}

/// What `credentials` is asked: everything that may be named in what it makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CredentialsRequest {
    /// [`crate::CONTRACT_VERSION`] of the front.
    pub contract_version: u32,
    /// The level that the trial requests.
    pub level: SecurityLevel,
    /// What keeps this trial apart from every other.
    pub rendezvous: Rendezvous,
    /// The profile's name.
    pub profile: String,
    /// Options that the suite sets beyond the profile.
    pub options: BTreeMap<String, OptionValue>,
    /// Every stream of the trial, as one of its hosts sees it.
    pub streams: Vec<StreamSpec>,
    /// Every application of the trial.
    pub applications: Vec<SecuredApplication>,
    /// Every service of the trial.
    pub services: Vec<SecuredService>,
}

/// An application that needs credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecuredApplication {
    /// Its name.
    pub application: String,
    /// Every address of its host.
    pub addresses: Vec<IpAddr>,
    /// The endpoints that it holds, and may use.
    pub endpoints: Vec<Endpoint>,
}

/// A service that needs credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecuredService {
    /// Which service, as named in `Description::services`.
    pub service: String,
    /// Its number within the trial, from 0.
    pub index: u16,
    /// Every address of its host.
    pub addresses: Vec<IpAddr>,
}

/// What `credentials` prints: one line, and the process ends with the exit status 0, 2 or 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "event", deny_unknown_fields)]
pub enum CredentialsEvent {
    /// All is there.
    Made(CredentialsSet),
    /// This worker can't have that level, or not under these options.
    Refused(Refusal),
    /// They could not be made.
    Failed {
        /// What was being done.
        doing: String,
        /// The chain of causes, outermost first.
        causes: Vec<String>,
    },
}

/// The credentials of one trial, made anew for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CredentialsSet {
    /// The files of each application, by its name.
    pub applications: BTreeMap<String, SecretFiles>,
    /// The files of each service.
    pub services: Vec<ServiceCredentials>,
    /// How they were made, in words: algorithms, sizes of keys, validity.
    pub stated: BTreeMap<String, String>,
}

/// The files of one service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceCredentials {
    /// Which service.
    pub service: String,
    /// Its number.
    pub index: u16,
    /// Its files.
    pub files: SecretFiles,
}
