//! What others understand of what a middleware sends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A protocol that a worker speaks. Two workers that both speak one may be paired: where all of it is alike, the messages of
/// one are those of the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Its name: `rtps`, `mqtt`, `someip`, …
    pub name: String,
    /// How a message lies in it: its type and its encoding.
    pub message: String,
    /// How endpoints of a stream find each other: by which names.
    pub topics: String,
}
