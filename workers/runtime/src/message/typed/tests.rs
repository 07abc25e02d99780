use super::*;

const KINDS: [PayloadKind; 3] = [PayloadKind::Imu, PayloadKind::Image, PayloadKind::PointCloud];
const SERIALISATIONS: [Serialisation; 4] = [
    Serialisation::Cdr,
    Serialisation::Protobuf,
    Serialisation::Someip,
    Serialisation::Plain,
];
const SEVENTH: Identity = Identity {
    channel: 2,
    publisher: 1,
    sequence: 7,
};

fn every_form(size_bytes: usize) -> impl Iterator<Item = Form> {
    let each = |kind| SERIALISATIONS.map(|serialisation| (kind, serialisation));
    KINDS.into_iter().flat_map(each).map(move |(kind, serialisation)| {
        let size_bytes = if kind == PayloadKind::Imu {
            IMU_BYTES
        } else {
            size_bytes
        };
        Form::of(kind, serialisation, size_bytes).unwrap()
    })
}

/// The body of a message, by someone who leaves nothing behind from the message before.
fn made(form: Form, identity: Identity, pool: &Pool) -> Vec<u8> {
    let mut maker = Maker::new(form);
    let mut body = vec![MaybeUninit::new(0xFF); form.body_bytes()];
    for identity in [
        Identity {
            sequence: 1,
            ..identity
        },
        identity,
    ] {
        maker.make(identity, pool, &mut body);
    }
    // SAFETY: every byte was initialised above.
    body.into_iter().map(|byte| unsafe { byte.assume_init() }).collect()
}

fn passes(form: Form, body: &[u8], identity: Identity, pool: &Pool) -> bool {
    form.read(body).is_some_and(|read| form.is_right(read, identity, pool))
}

#[test]
fn what_is_made_is_read_again_as_the_message_of_its_identity_alone() {
    let pool = Pool::new(3, 10_000);
    for form in every_form(5000) {
        let body = made(form, SEVENTH, &pool);
        assert!(passes(form, &body, SEVENTH, &pool), "{form:?}");
        let eighth = Identity { sequence: 8, ..SEVENTH };
        assert!(!passes(form, &body, eighth, &pool), "{form:?}");
    }
}

#[test]
fn a_single_wrong_bit_is_found_wherever_it_is_and_so_is_a_cut() {
    let pool = Pool::new(3, 1000);
    for form in every_form(300) {
        let right = made(form, SEVENTH, &pool);
        for place in 0..right.len() {
            let mut wrong = right.clone();
            wrong[place] ^= 1;
            // What only aligns CDR, or ends its texts, says nothing, and who reads it need not look at it.
            let is_silent = form.serialisation == Serialisation::Cdr && right[place] == 0;
            let passes = passes(form, &wrong, SEVENTH, &pool);
            assert!(!passes || is_silent, "{form:?}: byte {place} of {}", right.len());
        }
        for length in 0..right.len() {
            assert!(
                !passes(form, &right[..length], SEVENTH, &pool),
                "{form:?} cut to {length}"
            );
        }
        assert!(
            !passes(form, &[&right[..], &[0]].concat(), SEVENTH, &pool),
            "{form:?} with a byte more"
        );
    }
}

#[test]
fn every_size_from_the_smallest_on_is_met_exactly_and_a_smaller_one_refused_with_its_number() {
    for kind in [PayloadKind::Image, PayloadKind::PointCloud] {
        for serialisation in SERIALISATIONS {
            let reason = Form::of(kind, serialisation, 0).unwrap_err();
            let smallest: usize = reason.split(' ').find_map(|word| word.parse().ok()).unwrap();
            assert!(Form::of(kind, serialisation, smallest - 1).is_err(), "{reason}");
            for size_bytes in (smallest..smallest + 400).chain([16_500, 2_097_000, 2_097_300]) {
                let form = Form::of(kind, serialisation, size_bytes).unwrap();
                assert_eq!(HEADER_BYTES + form.body_bytes(), size_bytes, "{form:?}");
            }
        }
    }
}

#[test]
fn an_inertial_measurement_has_one_size_whatever_serialises_it() {
    for serialisation in SERIALISATIONS {
        for size_bytes in [0, IMU_BYTES - 1, IMU_BYTES + 1] {
            let reason = Form::of(PayloadKind::Imu, serialisation, size_bytes).unwrap_err();
            assert_eq!(reason, "the payload imu has 380 bytes, its header included");
        }
        let form = Form::of(PayloadKind::Imu, serialisation, IMU_BYTES).unwrap();
        assert_eq!(HEADER_BYTES + form.body_bytes(), IMU_BYTES);
    }
}

/// An image of one pixel with its stamp and its frame, as other implementations of these formats have them.
fn small_image(serialisation: Serialisation) -> Vec<u8> {
    let lengths = Lengths {
        frame_id_bytes: 6,
        data_bytes: 3,
    };
    let mut sample = Sample::new(PayloadKind::Image, lengths);
    let Sample::Image(image) = &mut sample else {
        unreachable!()
    };
    (image.header.stamp.sec, image.header.stamp.nanosec) = (1, 2);
    sample.reserve_data(3);
    sample.set_data(&[7, 8, 9]);
    let mut memory = vec![MaybeUninit::new(0xFF); serialise::length(&sample, serialisation)];
    serialise::serialise(&sample, serialisation, &mut memory);
    // SAFETY: every byte was initialised above.
    memory.into_iter().map(|byte| unsafe { byte.assume_init() }).collect()
}

#[test]
fn cdr_is_as_ros_2_has_it() {
    let expected: &[&[u8]] = &[
        &[0, 1, 0, 0],             // little-endian
        &[1, 0, 0, 0, 2, 0, 0, 0], // stamp
        &[7, 0, 0, 0],             // frame_id, with its terminator
        b"sensor\0",               //
        &[0],                      // aligns
        &[1, 0, 0, 0, 1, 0, 0, 0], // height, width
        &[5, 0, 0, 0],             // encoding
        b"rgb8\0",                 //
        &[0],                      // is_bigendian
        &[0, 0],                   // aligns
        &[3, 0, 0, 0],             // step
        &[3, 0, 0, 0, 7, 8, 9],    // data
    ];
    assert_eq!(small_image(Serialisation::Cdr), expected.concat());
}

#[test]
fn protobuf_is_as_its_wire_format_has_it() {
    let expected: &[&[u8]] = &[
        &[0x0A, 20, 0x0A, 10],                 // header, its stamp
        &[0x0D, 1, 0, 0, 0, 0x15, 2, 0, 0, 0], // sec, nanosec, each fixed
        &[0x12, 6],                            // frame_id
        b"sensor",                             //
        &[0x10, 1, 0x18, 1],                   // height, width
        &[0x22, 4],                            // encoding
        b"rgb8",                               //
        &[0x28, 0, 0x30, 3],                   // is_bigendian, step
        &[0x3A, 3, 7, 8, 9],                   // data
    ];
    assert_eq!(small_image(Serialisation::Protobuf), expected.concat());
}

#[test]
fn someip_is_as_autosar_has_it() {
    let expected: &[&[u8]] = &[
        &[0, 0, 0, 1, 0, 0, 0, 2],        // stamp
        &[0, 0, 0, 10, 0xEF, 0xBB, 0xBF], // frame_id, with mark and terminator
        b"sensor\0",                      //
        &[0, 0, 0, 1, 0, 0, 0, 1],        // height, width
        &[0, 0, 0, 8, 0xEF, 0xBB, 0xBF],  // encoding
        b"rgb8\0",                        //
        &[0],                             // is_bigendian
        &[0, 0, 0, 3],                    // step
        &[0, 0, 0, 3, 7, 8, 9],           // data
    ];
    assert_eq!(small_image(Serialisation::Someip), expected.concat());
}
