//! A message as it lies in the application's memory: a structure of fixed size, and behind it the data as they are.
//!
//! Its numbers are little-endian and not aligned, so that it may lie anywhere and be read on any machine; text has places of
//! a fixed length.

use std::mem::MaybeUninit;

use bytes::BufMut;
use zerocopy::little_endian::{F64, I32, U32};
use zerocopy::{Immutable, IntoBytes};

use super::messages::{Image, Imu, PointCloud, PointField, SensorHeader};
use super::sample::Sample;

/// The place of a frame's name: as long as makes an inertial measurement as large as its serialised ones.
const FRAME_ID_PLACE_BYTES: usize = 44;

/// The place of any other name.
const NAME_PLACE_BYTES: usize = 12;

const NUMBERS_OF_IMU: usize = 37;

#[derive(IntoBytes, Immutable)]
#[repr(C)]
struct PlainHeader {
    sec: I32,
    nanosec: U32,
    frame_id: [u8; FRAME_ID_PLACE_BYTES],
}

#[derive(IntoBytes, Immutable)]
#[repr(C)]
struct PlainImu {
    header: PlainHeader,
    numbers: [F64; NUMBERS_OF_IMU],
}

#[derive(IntoBytes, Immutable)]
#[repr(C)]
struct PlainImage {
    header: PlainHeader,
    height: U32,
    width: U32,
    encoding: [u8; NAME_PLACE_BYTES],
    is_bigendian: U32,
    step: U32,
}

#[derive(IntoBytes, Immutable, Clone, Copy)]
#[repr(C)]
struct PlainField {
    name: [u8; NAME_PLACE_BYTES],
    offset: U32,
    datatype: U32,
    count: U32,
}

#[derive(IntoBytes, Immutable)]
#[repr(C)]
struct PlainCloud {
    header: PlainHeader,
    height: U32,
    width: U32,
    fields: [PlainField; 4],
    is_bigendian: U32,
    point_step: U32,
    row_step: U32,
    is_dense: U32,
}

/// The bytes before the data.
pub(super) fn head(sample: &Sample) -> Vec<u8> {
    match sample {
        Sample::Imu(imu) => of_imu(imu).as_bytes().to_vec(),
        Sample::Image(image) => of_image(image).as_bytes().to_vec(),
        Sample::PointCloud(cloud) => of_cloud(cloud).as_bytes().to_vec(),
    }
}

/// Writes the message with these data in place.
pub(super) fn write(sample: &Sample, data: &[u8], memory: &mut [MaybeUninit<u8>]) {
    match sample {
        Sample::Imu(imu) => place(of_imu(imu).as_bytes(), data, memory),
        Sample::Image(image) => place(of_image(image).as_bytes(), data, memory),
        Sample::PointCloud(cloud) => place(of_cloud(cloud).as_bytes(), data, memory),
    }
}

fn place(head: &[u8], data: &[u8], mut memory: &mut [MaybeUninit<u8>]) {
    memory.put_slice(head);
    memory.put_slice(data);
    // There is no rest, see `serialise`.
    for place in memory {
        place.write(0);
    }
}

fn of_imu(imu: &Imu) -> PlainImu {
    let mut numbers = [F64::ZERO; NUMBERS_OF_IMU];
    for (place, number) in numbers.iter_mut().zip(imu.numbers()) {
        place.set(number);
    }
    PlainImu {
        header: of_header(&imu.header),
        numbers,
    }
}

fn of_image(image: &Image) -> PlainImage {
    PlainImage {
        header: of_header(&image.header),
        height: image.height.into(),
        width: image.width.into(),
        encoding: name(&image.encoding),
        is_bigendian: u32::from(image.is_bigendian).into(),
        step: image.step.into(),
    }
}

fn of_cloud(cloud: &PointCloud) -> PlainCloud {
    PlainCloud {
        header: of_header(&cloud.header),
        height: cloud.height.into(),
        width: cloud.width.into(),
        fields: std::array::from_fn(|number| of_field(&cloud.fields[number])),
        is_bigendian: u32::from(cloud.is_bigendian).into(),
        point_step: cloud.point_step.into(),
        row_step: cloud.row_step.into(),
        is_dense: u32::from(cloud.is_dense).into(),
    }
}

fn of_field(field: &PointField) -> PlainField {
    PlainField {
        name: name(&field.name),
        offset: field.offset.into(),
        datatype: field.datatype.into(),
        count: field.count.into(),
    }
}

fn of_header(header: &SensorHeader) -> PlainHeader {
    PlainHeader {
        sec: header.stamp.sec.into(),
        nanosec: header.stamp.nanosec.into(),
        frame_id: name(&header.frame_id),
    }
}

/// A name in its place, the rest of which is zero.
fn name<const PLACE_BYTES: usize>(text: &str) -> [u8; PLACE_BYTES] {
    let mut place = [0; PLACE_BYTES];
    place[..text.len()].copy_from_slice(text.as_bytes());
    place
}
