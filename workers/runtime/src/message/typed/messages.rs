//! The types of messages, laid out as ROS 2's `sensor_msgs`: an inertial measurement, an image, a point cloud.
//!
//! Every field is always there, so that a message's size doesn't depend on its values. How they lie in bytes is decided by
//! the derived traits: serde's for CDR, prost's for protobuf; `someip` and `plain` write them field by field.

use serde::{Deserialize, Serialize};

/// The numbers of a covariance.
const MATRIX: usize = 9;

/// `builtin_interfaces::msg::Time`.
#[derive(Clone, Copy, PartialEq, prost::Message, Serialize, Deserialize)]
pub(crate) struct Time {
    #[prost(sfixed32, required, tag = "1")]
    pub(super) sec: i32,
    #[prost(fixed32, required, tag = "2")]
    pub(super) nanosec: u32,
}

/// `std_msgs::msg::Header`.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub(crate) struct SensorHeader {
    #[prost(message, required, tag = "1")]
    pub(super) stamp: Time,
    #[prost(string, required, tag = "2")]
    pub(super) frame_id: String,
}

/// `geometry_msgs::msg::Quaternion`.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub(crate) struct Quaternion {
    #[prost(double, required, tag = "1")]
    pub(super) x: f64,
    #[prost(double, required, tag = "2")]
    pub(super) y: f64,
    #[prost(double, required, tag = "3")]
    pub(super) z: f64,
    #[prost(double, required, tag = "4")]
    pub(super) w: f64,
}

/// `geometry_msgs::msg::Vector3`.
#[derive(Clone, Copy, PartialEq, prost::Message, Serialize, Deserialize)]
pub(crate) struct Vector3 {
    #[prost(double, required, tag = "1")]
    pub(super) x: f64,
    #[prost(double, required, tag = "2")]
    pub(super) y: f64,
    #[prost(double, required, tag = "3")]
    pub(super) z: f64,
}

/// `sensor_msgs::msg::Imu`.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub(crate) struct Imu {
    #[prost(message, required, tag = "1")]
    pub(super) header: SensorHeader,
    #[prost(message, required, tag = "2")]
    pub(super) orientation: Quaternion,
    #[prost(double, repeated, tag = "3")]
    #[serde(with = "matrix")]
    pub(super) orientation_covariance: Vec<f64>,
    #[prost(message, required, tag = "4")]
    pub(super) angular_velocity: Vector3,
    #[prost(double, repeated, tag = "5")]
    #[serde(with = "matrix")]
    pub(super) angular_velocity_covariance: Vec<f64>,
    #[prost(message, required, tag = "6")]
    pub(super) linear_acceleration: Vector3,
    #[prost(double, repeated, tag = "7")]
    #[serde(with = "matrix")]
    pub(super) linear_acceleration_covariance: Vec<f64>,
}

/// `sensor_msgs::msg::Image`.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub(crate) struct Image {
    #[prost(message, required, tag = "1")]
    pub(super) header: SensorHeader,
    #[prost(uint32, required, tag = "2")]
    pub(super) height: u32,
    #[prost(uint32, required, tag = "3")]
    pub(super) width: u32,
    #[prost(string, required, tag = "4")]
    pub(super) encoding: String,
    #[prost(bool, required, tag = "5")]
    pub(super) is_bigendian: bool,
    #[prost(uint32, required, tag = "6")]
    pub(super) step: u32,
    #[prost(bytes = "vec", required, tag = "7")]
    #[serde(with = "serde_bytes")]
    pub(super) data: Vec<u8>,
}

/// `sensor_msgs::msg::PointField`.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub(crate) struct PointField {
    #[prost(string, required, tag = "1")]
    pub(super) name: String,
    #[prost(uint32, required, tag = "2")]
    pub(super) offset: u32,
    #[prost(uint32, required, tag = "3")]
    #[serde(with = "octet")]
    pub(super) datatype: u32,
    #[prost(uint32, required, tag = "4")]
    pub(super) count: u32,
}

/// `sensor_msgs::msg::PointCloud2`.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub(crate) struct PointCloud {
    #[prost(message, required, tag = "1")]
    pub(super) header: SensorHeader,
    #[prost(uint32, required, tag = "2")]
    pub(super) height: u32,
    #[prost(uint32, required, tag = "3")]
    pub(super) width: u32,
    #[prost(message, repeated, tag = "4")]
    pub(super) fields: Vec<PointField>,
    #[prost(bool, required, tag = "5")]
    pub(super) is_bigendian: bool,
    #[prost(uint32, required, tag = "6")]
    pub(super) point_step: u32,
    #[prost(uint32, required, tag = "7")]
    pub(super) row_step: u32,
    #[prost(bytes = "vec", required, tag = "8")]
    #[serde(with = "serde_bytes")]
    pub(super) data: Vec<u8>,
    #[prost(bool, required, tag = "9")]
    pub(super) is_dense: bool,
}

impl Imu {
    /// One whose numbers are all zero.
    pub(super) fn still(header: SensorHeader) -> Imu {
        let vector = Vector3 { x: 0.0, y: 0.0, z: 0.0 };
        let matrix = || vec![0.0; MATRIX];
        Imu {
            header,
            orientation: Quaternion {
                x: 0.0,
                y: 0.0,
                z: 0.0,
                w: 0.0,
            },
            orientation_covariance: matrix(),
            angular_velocity: vector,
            angular_velocity_covariance: matrix(),
            linear_acceleration: vector,
            linear_acceleration_covariance: matrix(),
        }
    }

    /// All its numbers, in the order of its fields.
    pub(super) fn numbers(&self) -> impl Iterator<Item = f64> {
        let (turned, turning, pushed) = (&self.orientation, &self.angular_velocity, &self.linear_acceleration);
        [turned.x, turned.y, turned.z, turned.w]
            .into_iter()
            .chain(self.orientation_covariance.iter().copied())
            .chain([turning.x, turning.y, turning.z])
            .chain(self.angular_velocity_covariance.iter().copied())
            .chain([pushed.x, pushed.y, pushed.z])
            .chain(self.linear_acceleration_covariance.iter().copied())
    }

    /// The same, to be set.
    pub(super) fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        let (turned, turning, pushed) = (
            &mut self.orientation,
            &mut self.angular_velocity,
            &mut self.linear_acceleration,
        );
        [&mut turned.x, &mut turned.y, &mut turned.z, &mut turned.w]
            .into_iter()
            .chain(&mut self.orientation_covariance)
            .chain([&mut turning.x, &mut turning.y, &mut turning.z])
            .chain(&mut self.angular_velocity_covariance)
            .chain([&mut pushed.x, &mut pushed.y, &mut pushed.z])
            .chain(&mut self.linear_acceleration_covariance)
    }
}

/// A matrix as CDR has an array of fixed length: its numbers, without how many they are.
mod matrix {
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::{Error, Serialize, Serializer};

    use super::MATRIX;

    pub(super) fn serialize<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        let numbers: &[f64; MATRIX] = numbers.try_into().map_err(S::Error::custom)?;
        numbers.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        <[f64; MATRIX]>::deserialize(deserializer).map(|numbers| numbers.to_vec())
    }
}

/// A number of one byte, for which protobuf has no type of its own.
mod octet {
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::Serializer;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(super) fn serialize<S: Serializer>(number: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(*number as u8)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        u8::deserialize(deserializer).map(u32::from)
    }
}
