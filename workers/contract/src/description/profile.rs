//! Named configurations, and for each axis of tuning what one sets and on whose advice, or why it sets nothing.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Delivery, OptionValue};

/// A named configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it stands for and whose advice it follows.
    pub summary: String,
    /// The delivery that it advises; none: the worker's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// The options it sets away from their defaults.
    pub options: BTreeMap<String, OptionValue>,
    /// What it does on each axis: all options and the delivery that it sets are named here. Empty in `default`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tuning: Vec<Tuning>,
}

/// What of a middleware can be tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// How the application learns of a message: who calls it, and whether a thread sleeps until then.
    WakeUp,
    /// How often a message is copied: loans, shared memory.
    Copies,
    /// How applications find each other.
    Discovery,
    /// Sizes: of sockets' buffers, queues, packets, segments.
    Buffers,
    /// Whether a message is held back, so that several share a packet.
    Batching,
    /// What is on none of the others: sending again, logging.
    Other,
}

/// What a profile does on an axis; one that sets options on different advice has several of an axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// The axis.
    pub axis: Axis,
    /// The options of the profile that are on it, and `delivery`; empty: nothing is set.
    pub set_by: Vec<String>,
    /// The text of the makers that advises so; or why nothing is set.
    pub why: String,
}

/// The name by which a tuning calls the profile's delivery.
pub const DELIVERY: &str = "delivery";

impl Profile {
    /// A profile that sets nothing yet.
    #[must_use]
    pub fn new(summary: &str) -> Profile {
        Profile {
            summary: summary.to_owned(),
            delivery: None,
            options: BTreeMap::new(),
            tuning: Vec::new(),
        }
    }

    /// Sets options that are on an axis, as `source` advises.
    #[must_use]
    pub fn sets<const COUNT: usize>(
        mut self,
        axis: Axis,
        options: [(&str, OptionValue); COUNT],
        source: &str,
    ) -> Profile {
        self.tuning.push(Tuning {
            axis,
            set_by: options.iter().map(|(name, _)| (*name).to_owned()).collect(),
            why: source.to_owned(),
        });
        let named = options.map(|(name, value)| (name.to_owned(), value));
        self.options.extend(named);
        self
    }

    /// Sets the delivery, which is how the application is woken up, as `source` advises.
    #[must_use]
    pub fn delivers(mut self, delivery: Delivery, source: &str) -> Profile {
        self.delivery = Some(delivery);
        self.tuning.push(Tuning {
            axis: Axis::WakeUp,
            set_by: vec![DELIVERY.to_owned()],
            why: source.to_owned(),
        });
        self
    }

    /// Sets nothing on an axis, because of `reason`.
    #[must_use]
    pub fn leaves(mut self, axis: Axis, reason: &str) -> Profile {
        self.tuning.push(Tuning {
            axis,
            set_by: Vec::new(),
            why: reason.to_owned(),
        });
        self
    }
}

impl Axis {
    /// All there are.
    pub const ALL: [Axis; 6] = [
        Axis::WakeUp,
        Axis::Copies,
        Axis::Discovery,
        Axis::Buffers,
        Axis::Batching,
        Axis::Other,
    ];
}

impl fmt::Display for Axis {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Axis::WakeUp => "wake_up",
            Axis::Copies => "copies",
            Axis::Discovery => "discovery",
            Axis::Buffers => "buffers",
            Axis::Batching => "batching",
            Axis::Other => "other",
        })
    }
}
