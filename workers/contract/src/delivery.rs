//! Who calls the application with a message, and what a worker says of the ways that its middleware has.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who calls the application with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// A thread of the middleware: a listener, a callback.
    LibraryThread,
    /// A thread of the application that sleeps until there is a message: in a wait set, on a channel, in a blocking read.
    OwnThread,
    /// A thread of the application that looks for messages without ever sleeping.
    Polling,
}

impl Delivery {
    /// All there are.
    pub const ALL: [Delivery; 3] = [Delivery::LibraryThread, Delivery::OwnThread, Delivery::Polling];
}

impl fmt::Display for Delivery {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Delivery::LibraryThread => "library_thread",
            Delivery::OwnThread => "own_thread",
            Delivery::Polling => "polling",
        })
    }
}

/// The deliveries of a middleware: each of the three is among those that it has or among those that it lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deliveries {
    /// What `default` stands for; one of those that it has.
    pub default: Delivery,
    /// Those that it has.
    #[schemars(length(min = 1))]
    pub has: Vec<DeliveryDescription>,
    /// Those that it lacks.
    pub lacks: Vec<LackingDelivery>,
}

/// A delivery that a middleware has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveryDescription {
    /// Which.
    pub delivery: Delivery,
    /// How it is done, in one sentence.
    pub how: String,
    /// Whose example, tool or documentation does it so.
    pub source: String,
}

/// A delivery that a middleware lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LackingDelivery {
    /// Which.
    pub delivery: Delivery,
    /// Why, in one sentence.
    pub reason: String,
}

impl DeliveryDescription {
    /// A delivery that a middleware has.
    #[must_use]
    pub fn new(delivery: Delivery, how: &str, source: &str) -> DeliveryDescription {
        DeliveryDescription {
            delivery,
            how: how.into(),
            source: source.into(),
        }
    }
}

impl LackingDelivery {
    /// A delivery that a middleware lacks.
    #[must_use]
    pub fn new(delivery: Delivery, reason: &str) -> LackingDelivery {
        LackingDelivery {
            delivery,
            reason: reason.into(),
        }
    }
}

impl Deliveries {
    /// How a delivery is done; none where the middleware lacks it.
    #[must_use]
    pub fn how(&self, delivery: Delivery) -> Option<&str> {
        let found = self.has.iter().find(|each| each.delivery == delivery);
        found.map(|each| each.how.as_str())
    }
}
