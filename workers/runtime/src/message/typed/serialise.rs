//! From a message to bytes and back, by the libraries whose formats they are: CDR, protobuf, SOME/IP.
//!
//! What needs no serialising is in `plain`; nothing is timed here.

use std::mem::MaybeUninit;

use byteorder::LittleEndian;
use bytes::BufMut;
use middlemark_contract::{PayloadKind, Serialisation};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::messages::{Image, Imu, PointCloud};
use super::sample::Sample;
use super::someip::Someip;

/// What DDS and ROS 2 put before CDR: that it is plain and little-endian.
const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

/// How many bytes it takes.
pub(super) fn length(sample: &Sample, serialisation: Serialisation) -> usize {
    let mut bytes = Vec::new();
    put(sample, serialisation, &mut bytes);
    bytes.len()
}

/// Serialises it into memory of its length.
pub(super) fn serialise(sample: &Sample, serialisation: Serialisation, mut memory: &mut [MaybeUninit<u8>]) {
    put(sample, serialisation, &mut memory);
    // There is no rest, as the memory is as long as such a message was found to be; who hands it over relies on that.
    for place in memory {
        place.write(0);
    }
}

/// Reads a message of a type; none where the bytes are none, or are more than one.
pub(super) fn deserialise(kind: PayloadKind, serialisation: Serialisation, bytes: &[u8]) -> Option<Sample> {
    match kind {
        PayloadKind::Imu => get::<Imu>(serialisation, bytes).map(Sample::Imu),
        PayloadKind::Image => get::<Image>(serialisation, bytes).map(Sample::Image),
        PayloadKind::PointCloud => get::<PointCloud>(serialisation, bytes).map(Sample::PointCloud),
    }
}

fn put(sample: &Sample, serialisation: Serialisation, buffer: &mut impl BufMut) {
    match sample {
        Sample::Imu(imu) => put_message(imu, serialisation, buffer),
        Sample::Image(image) => put_message(image, serialisation, buffer),
        Sample::PointCloud(cloud) => put_message(cloud, serialisation, buffer),
    }
}

/// Writes as much as there is room for: a message that is cut is none to who reads it.
fn put_message<T: Serialize + prost::Message + Someip>(
    message: &T,
    serialisation: Serialisation,
    buffer: &mut impl BufMut,
) {
    match serialisation {
        Serialisation::Cdr => {
            buffer.put_slice(&ENCAPSULATION);
            let _ = cdr_encoding::to_writer::<_, LittleEndian, _>(buffer.writer(), message);
        }
        Serialisation::Protobuf => {
            let _ = message.encode(buffer);
        }
        Serialisation::Someip => message.put(buffer),
        Serialisation::Plain => unreachable!("a plain message is written where it lies"),
    }
}

fn get<T: DeserializeOwned + prost::Message + Default + Someip>(
    serialisation: Serialisation,
    mut bytes: &[u8],
) -> Option<T> {
    match serialisation {
        Serialisation::Cdr => {
            let bytes = bytes.strip_prefix(&ENCAPSULATION)?;
            let (message, read_bytes) = cdr_encoding::from_bytes::<T, LittleEndian>(bytes).ok()?;
            (read_bytes == bytes.len()).then_some(message)
        }
        Serialisation::Protobuf => T::decode(bytes).ok(),
        Serialisation::Someip => T::get(&mut bytes).filter(|_| bytes.is_empty()),
        Serialisation::Plain => unreachable!("a plain message is read where it lies"),
    }
}
