//! The type of every message, a sequence of octets: its length, then its bytes.
//!
//! What it is called on the wire, the topic says.

use dust_dds::infrastructure::type_support::DdsType;

/// A message, which the library takes over and gives away.
#[derive(DdsType)]
pub(crate) struct Octets {
    pub(crate) octets: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use dust_dds::xtypes::data_storage::DataStorage;
    use dust_dds::xtypes::type_support::TypeSupport;

    use super::*;

    #[test]
    fn a_message_is_one_sequence_of_octets_to_the_library_and_comes_back() {
        let message = Octets {
            octets: b"abc".to_vec(),
        };
        let mut sample = message.create_dynamic_sample();
        let expected = DataStorage::SequenceUInt8(b"abc".to_vec());
        assert_eq!(sample.get_value(0).unwrap(), &expected);
        assert_eq!(Octets::create_sample(&mut sample).unwrap().octets, b"abc");
    }
}
