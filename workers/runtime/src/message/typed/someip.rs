//! SOME/IP's own serialisation, as AUTOSAR's `PRS_SOMEIPProtocol` has it for structures without tags.
//!
//! Numbers are big-endian and not aligned, a string or an array begins with its length in bytes as 32 bits; strings are
//! UTF-8 with a byte order mark and a terminator. It is own code, as no crate saves any of it: `rsomeip-bytes` 0.2 derives
//! nothing, so that each field would be written out here all the same, and asks for Rust 1.85.1, and
//! `veecle-os-data-support-someip` 0.1 for 1.89.

use bytes::{Buf, BufMut};

use super::messages::{Image, Imu, PointCloud, PointField, SensorHeader, Time};

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// A structure in SOME/IP's serialisation.
pub(super) trait Someip: Sized {
    /// Writes it; the buffer has room for it.
    fn put(&self, buffer: &mut impl BufMut);

    /// Reads it off the front; none where the bytes are none.
    fn get(bytes: &mut &[u8]) -> Option<Self>;
}

impl Someip for SensorHeader {
    fn put(&self, buffer: &mut impl BufMut) {
        buffer.put_i32(self.stamp.sec);
        buffer.put_u32(self.stamp.nanosec);
        put_text(&self.frame_id, buffer);
    }

    fn get(bytes: &mut &[u8]) -> Option<SensorHeader> {
        Some(SensorHeader {
            stamp: Time {
                sec: bytes.try_get_i32().ok()?,
                nanosec: bytes.try_get_u32().ok()?,
            },
            frame_id: get_text(bytes)?,
        })
    }
}

impl Someip for Imu {
    fn put(&self, buffer: &mut impl BufMut) {
        self.header.put(buffer);
        self.numbers().for_each(|number| buffer.put_f64(number));
    }

    fn get(bytes: &mut &[u8]) -> Option<Imu> {
        let mut imu = Imu::still(SensorHeader::get(bytes)?);
        for number in imu.numbers_mut() {
            *number = bytes.try_get_f64().ok()?;
        }
        Some(imu)
    }
}

impl Someip for Image {
    fn put(&self, buffer: &mut impl BufMut) {
        self.header.put(buffer);
        buffer.put_u32(self.height);
        buffer.put_u32(self.width);
        put_text(&self.encoding, buffer);
        buffer.put_u8(self.is_bigendian.into());
        buffer.put_u32(self.step);
        put_octets(&self.data, buffer);
    }

    fn get(bytes: &mut &[u8]) -> Option<Image> {
        Some(Image {
            header: SensorHeader::get(bytes)?,
            height: bytes.try_get_u32().ok()?,
            width: bytes.try_get_u32().ok()?,
            encoding: get_text(bytes)?,
            is_bigendian: get_flag(bytes)?,
            step: bytes.try_get_u32().ok()?,
            data: get_octets(bytes)?.to_vec(),
        })
    }
}

impl Someip for PointField {
    fn put(&self, buffer: &mut impl BufMut) {
        put_text(&self.name, buffer);
        buffer.put_u32(self.offset);
        buffer.put_u8(self.datatype as u8);
        buffer.put_u32(self.count);
    }

    fn get(bytes: &mut &[u8]) -> Option<PointField> {
        Some(PointField {
            name: get_text(bytes)?,
            offset: bytes.try_get_u32().ok()?,
            datatype: bytes.try_get_u8().ok()?.into(),
            count: bytes.try_get_u32().ok()?,
        })
    }
}

impl Someip for PointCloud {
    fn put(&self, buffer: &mut impl BufMut) {
        self.header.put(buffer);
        buffer.put_u32(self.height);
        buffer.put_u32(self.width);
        buffer.put_u32(self.fields.iter().map(field_bytes).sum());
        self.fields.iter().for_each(|field| field.put(buffer));
        buffer.put_u8(self.is_bigendian.into());
        buffer.put_u32(self.point_step);
        buffer.put_u32(self.row_step);
        put_octets(&self.data, buffer);
        buffer.put_u8(self.is_dense.into());
    }

    fn get(bytes: &mut &[u8]) -> Option<PointCloud> {
        Some(PointCloud {
            header: SensorHeader::get(bytes)?,
            height: bytes.try_get_u32().ok()?,
            width: bytes.try_get_u32().ok()?,
            fields: get_fields(get_octets(bytes)?)?,
            is_bigendian: get_flag(bytes)?,
            point_step: bytes.try_get_u32().ok()?,
            row_step: bytes.try_get_u32().ok()?,
            data: get_octets(bytes)?.to_vec(),
            is_dense: get_flag(bytes)?,
        })
    }
}

fn field_bytes(field: &PointField) -> u32 {
    let numbers_bytes = 4 + 1 + 4;
    4 + text_bytes(&field.name) + numbers_bytes
}

fn get_fields(mut bytes: &[u8]) -> Option<Vec<PointField>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        fields.push(PointField::get(&mut bytes)?);
    }
    Some(fields)
}

/// With its mark and its terminator.
fn text_bytes(text: &str) -> u32 {
    (BYTE_ORDER_MARK.len() + text.len() + 1) as u32
}

fn put_text(text: &str, buffer: &mut impl BufMut) {
    buffer.put_u32(text_bytes(text));
    buffer.put_slice(&BYTE_ORDER_MARK);
    buffer.put_slice(text.as_bytes());
    buffer.put_u8(0);
}

fn get_text(bytes: &mut &[u8]) -> Option<String> {
    let text = get_octets(bytes)?.strip_prefix(&BYTE_ORDER_MARK)?.strip_suffix(&[0])?;
    String::from_utf8(text.to_vec()).ok()
}

fn put_octets(octets: &[u8], buffer: &mut impl BufMut) {
    buffer.put_u32(octets.len() as u32);
    buffer.put_slice(octets);
}

fn get_octets<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = bytes.try_get_u32().ok()? as usize;
    let (octets, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(octets)
}

fn get_flag(bytes: &mut &[u8]) -> Option<bool> {
    match bytes.try_get_u8().ok()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}
