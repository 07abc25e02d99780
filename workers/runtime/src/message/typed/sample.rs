//! A message of one of the types, and what its fields are for each identity.
//!
//! Making one takes memory, filling it again takes none. Its data are set from outside, as they may lie elsewhere; how it
//! lies in bytes is for `serialise` and `plain`.

use middlemark_contract::PayloadKind;

use super::Lengths;
use super::messages::{Image, Imu, PointCloud, PointField, SensorHeader, Time};
use crate::message::payload::{Identity, split_mix};

/// Red, green, blue.
pub(super) const PIXEL_BYTES: usize = 3;

/// x, y, z and intensity.
pub(super) const POINT_BYTES: usize = 16;

/// What a point has, each a number of four bytes.
const POINT_FIELDS: [&str; 4] = ["x", "y", "z", "intensity"];

/// `sensor_msgs::msg::PointField::FLOAT32`.
const FLOAT32: u32 = 7;

const NANOSECONDS: u64 = 1_000_000_000;

/// A message of one of the types.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sample {
    Imu(Imu),
    Image(Image),
    PointCloud(PointCloud),
}

impl Sample {
    /// One of these lengths, which has no data yet.
    pub(super) fn new(kind: PayloadKind, lengths: Lengths) -> Sample {
        let header = SensorHeader {
            stamp: Time { sec: 0, nanosec: 0 },
            frame_id: "sensor_frame_".chars().cycle().take(lengths.frame_id_bytes).collect(),
        };
        let (data, row_bytes) = (Vec::new(), lengths.data_bytes as u32);
        match kind {
            PayloadKind::Imu => Sample::Imu(Imu::still(header)),
            PayloadKind::Image => Sample::Image(Image {
                header,
                height: 1,
                width: row_bytes / PIXEL_BYTES as u32,
                encoding: "rgb8".into(),
                is_bigendian: false,
                step: row_bytes,
                data,
            }),
            PayloadKind::PointCloud => Sample::PointCloud(PointCloud {
                header,
                height: 1,
                width: row_bytes / POINT_BYTES as u32,
                fields: (0..).zip(POINT_FIELDS).map(point_field).collect(),
                is_bigendian: false,
                point_step: POINT_BYTES as u32,
                row_step: row_bytes,
                data,
                is_dense: true,
            }),
        }
    }

    /// Sets all but the data to what the message of this identity has; the seconds of its stamp are its number.
    pub(super) fn set_fields(&mut self, identity: Identity) {
        let mut state =
            u64::from(identity.sequence) | u64::from(identity.publisher) << 32 | u64::from(identity.channel) << 48;
        let stamp = Time {
            sec: identity.sequence as i32,
            nanosec: (split_mix(&mut state) % NANOSECONDS) as u32,
        };
        match self {
            Sample::Imu(imu) => {
                for number in imu.numbers_mut() {
                    *number = f64::from(split_mix(&mut state) as u32);
                }
                imu.header.stamp = stamp;
            }
            Sample::Image(image) => image.header.stamp = stamp,
            Sample::PointCloud(cloud) => cloud.header.stamp = stamp,
        }
    }

    /// Gives it memory for so many bytes of data, all of it touched.
    pub(super) fn reserve_data(&mut self, data_bytes: usize) {
        if let Some(data) = self.data_mut() {
            *data = vec![0xA5; data_bytes];
        }
    }

    /// Sets its data, as many bytes as it has memory for.
    pub(super) fn set_data(&mut self, bytes: &[u8]) {
        if let Some(data) = self.data_mut() {
            data.copy_from_slice(bytes);
        }
    }

    /// Leaves it without data.
    pub(super) fn take_data(&mut self) -> Vec<u8> {
        self.data_mut().map(std::mem::take).unwrap_or_default()
    }

    fn data_mut(&mut self) -> Option<&mut Vec<u8>> {
        match self {
            Sample::Imu(_) => None,
            Sample::Image(image) => Some(&mut image.data),
            Sample::PointCloud(cloud) => Some(&mut cloud.data),
        }
    }
}

fn point_field((number, name): (u32, &str)) -> PointField {
    PointField {
        name: name.into(),
        offset: 4 * number,
        datatype: FLOAT32,
        count: 1,
    }
}
