//! What a message holds behind its header where that is not octets: its type, and how it is serialised.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A typed message in place of octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PayloadSpec {
    /// Its type.
    pub kind: PayloadKind,
    /// How it is serialised; none: as the worker does by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serialisation: Option<Serialisation>,
}

/// The types of messages, after ROS 2's `sensor_msgs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PayloadKind {
    /// An inertial measurement, of one size.
    Imu,
    /// An image: its pixels fill the message up to its size.
    Image,
    /// A point cloud: its points do.
    PointCloud,
}

/// How a typed message becomes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Serialisation {
    /// CDR, as DDS and ROS 2 have it.
    Cdr,
    /// Protocol Buffers.
    Protobuf,
    /// SOME/IP's own.
    Someip,
    /// None: a structure of fixed size with its data behind it, written and read where it lies.
    Plain,
}

impl fmt::Display for PayloadKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

impl fmt::Display for Serialisation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}
