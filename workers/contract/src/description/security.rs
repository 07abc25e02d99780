//! How safe from strangers a trial's messages are to be, and why a middleware can't have a level.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// All levels, for one reason.
    #[must_use]
    pub fn of_all(reason: &str) -> Vec<LackingSecurity> {
        SecurityLevel::ALL
            .map(|level| LackingSecurity {
                level,
                reason: reason.into(),
            })
            .into()
    }
}
