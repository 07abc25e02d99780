//! How a publisher comes to know that a subscriber is there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a publisher comes to know that a subscriber is there; what it then tells is `matched`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Matching {
    /// Of the subscriber itself.
    Subscriber {
        /// By what: a status, a listener, an accepted connection.
        how: String,
    },
    /// Only of the service that passes its messages on; whether that has a subscriber for them it never knows.
    Service {
        /// By what.
        how: String,
    },
    /// Never: no publisher tells `matched`.
    Never {
        /// Why it can't know, in one sentence.
        reason: String,
    },
}

impl Matching {
    /// The text that belongs to its kind.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Matching::Subscriber { how: text } | Matching::Service { how: text } | Matching::Never { reason: text } => {
                text
            }
        }
    }
}
