//! Typed messages behind the header: how long their parts are, how they are made, and how they are read again.
//!
//! A message's fields follow from its identity, as octets do (`payload`), so that both sides know them; `messages` has the
//! types, `sample` their values, `serialise` and `plain` how they lie in bytes. It neither stamps a message nor decides when
//! one is made.

mod messages;
mod plain;
mod sample;
mod serialise;
mod someip;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::ops::RangeInclusive;

use middlemark_contract::{ApplicationSpec, PayloadKind, Refusal, Serialisation};

use crate::clock;
use crate::message::channel::Channel;
use crate::message::header::HEADER_BYTES;
use crate::message::payload::{Identity, Pool};
use sample::Sample;

/// The lengths that a frame's name may have: one of them makes a message exactly as long as was requested.
const FRAME_ID_BYTES: RangeInclusive<usize> = 6..=40;

/// The size of an inertial measurement, header included: with one of those names it has it in each serialisation.
const IMU_BYTES: usize = 380;

/// The parts of a message whose length can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lengths {
    frame_id_bytes: usize,
    /// Of pixels or points; an inertial measurement has none.
    data_bytes: usize,
}

/// What all messages of a channel have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    kind: PayloadKind,
    serialisation: Serialisation,
    lengths: Lengths,
}

/// A message that was read.
pub(crate) enum Read<'a> {
    /// Where it lies.
    InPlace(&'a [u8]),
    /// Deserialised.
    Sample(Sample),
}

impl Form {
    /// The form in which a message has so many bytes, its header included.
    ///
    /// # Errors
    /// There is none; it says which sizes there are.
    pub(crate) fn of(kind: PayloadKind, serialisation: Serialisation, size_bytes: usize) -> Result<Form, String> {
        let smallest = |frame_id_bytes| Form {
            kind,
            serialisation,
            lengths: Lengths {
                frame_id_bytes,
                data_bytes: least_data_bytes(kind),
            },
        };
        let body_bytes = size_bytes.saturating_sub(HEADER_BYTES);
        let mut frame_ids = FRAME_ID_BYTES;
        frame_ids
            .find_map(|frame_id_bytes| smallest(frame_id_bytes).stretched(body_bytes))
            .filter(|_| kind != PayloadKind::Imu || size_bytes == IMU_BYTES)
            .ok_or_else(|| match kind {
                PayloadKind::Imu => format!("the payload {kind} has {IMU_BYTES} bytes, its header included"),
                PayloadKind::Image | PayloadKind::PointCloud => {
                    let least_bytes = HEADER_BYTES + smallest(*FRAME_ID_BYTES.start()).body_bytes();
                    format!(
                        "the payload {kind} as {serialisation} has at least {least_bytes} bytes, its header included"
                    )
                }
            })
    }

    /// The same with as much data as makes the body so long; none where no amount does.
    fn stretched(mut self, body_bytes: usize) -> Option<Form> {
        const TRIES: usize = 4; // more data may need a longer field for its length
        for _ in 0..TRIES {
            let now_bytes = self.body_bytes();
            if now_bytes == body_bytes {
                return Some(self);
            }
            let data_bytes = (self.lengths.data_bytes + body_bytes).checked_sub(now_bytes)?;
            if self.kind == PayloadKind::Imu || data_bytes < least_data_bytes(self.kind) {
                return None;
            }
            self.lengths.data_bytes = data_bytes;
        }
        None
    }

    fn body_bytes(&self) -> usize {
        let mut sample = Sample::new(self.kind, self.lengths);
        if self.is_in_place() {
            return plain::head(&sample).len() + self.lengths.data_bytes;
        }
        sample.reserve_data(self.lengths.data_bytes);
        serialise::length(&sample, self.serialisation)
    }

    /// Whether it lies in memory as the application has it, so that nothing is serialised.
    fn is_in_place(&self) -> bool {
        self.serialisation == Serialisation::Plain
    }

    /// Reads a body as a subscriber's application does; none where it is no message of this type.
    pub(crate) fn read<'a>(&self, body: &'a [u8]) -> Option<Read<'a>> {
        if self.is_in_place() {
            return Some(Read::InPlace(body));
        }
        serialise::deserialise(self.kind, self.serialisation, body).map(Read::Sample)
    }

    /// Whether what was read is the message of this identity.
    pub(crate) fn is_right(&self, read: Read<'_>, identity: Identity, pool: &Pool) -> bool {
        let (mut expected, data) = (Sample::new(self.kind, self.lengths), self.data(identity, pool));
        expected.set_fields(identity);
        match read {
            Read::InPlace(body) => body.strip_prefix(&plain::head(&expected)[..]) == Some(data),
            Read::Sample(mut sample) => sample.take_data() == data && sample == expected,
        }
    }

    fn data<'a>(&self, identity: Identity, pool: &'a Pool) -> &'a [u8] {
        pool.body(identity, HEADER_BYTES + self.lengths.data_bytes)
    }
}

/// Makes the messages of one endpoint, in memory that is there before the first.
pub(crate) struct Maker {
    form: Form,
    /// The application's own message; without its data where that is written in place.
    sample: Sample,
}

impl Maker {
    pub(crate) fn new(form: Form) -> Maker {
        let mut sample = Sample::new(form.kind, form.lengths);
        if !form.is_in_place() {
            sample.reserve_data(form.lengths.data_bytes);
        }
        Maker { form, sample }
    }

    /// Fills a message and serialises it to where its body belongs; returns how long serialising took.
    #[inline(never)]
    pub(crate) fn make(&mut self, identity: Identity, pool: &Pool, body: &mut [MaybeUninit<u8>]) -> u32 {
        let data = self.form.data(identity, pool);
        self.sample.set_fields(identity);
        if self.form.is_in_place() {
            plain::write(&self.sample, data, body);
            return 0;
        }
        self.sample.set_data(data);
        let filled_ns = clock::now_ns();
        serialise::serialise(&self.sample, self.form.serialisation, body);
        elapsed_ns(filled_ns)
    }
}

/// The forms of a trial's channels with typed messages, by the channel's number.
///
/// # Errors
/// The refusal of a size that a type can't have.
pub(crate) fn forms(spec: &ApplicationSpec, channels: &[Channel]) -> Result<HashMap<u16, Form>, Refusal> {
    let mut forms = HashMap::new();
    for channel in channels {
        let stream = &spec.streams[channel.stream()];
        let Some((kind, serialisation)) = stream
            .payload
            .and_then(|payload| Some((payload.kind, payload.serialisation?)))
        else {
            continue;
        };
        let form = Form::of(kind, serialisation, channel.size_bytes).map_err(|reason| Refusal {
            capability: "size_bytes".into(),
            reason: format!("{} bytes on '{}': {reason}", channel.size_bytes, stream.name),
        })?;
        forms.insert(channel.number, form);
    }
    Ok(forms)
}

/// How long ago an instant was, as samples have it.
pub(crate) fn elapsed_ns(since_ns: i64) -> u32 {
    u32::try_from(clock::now_ns() - since_ns).unwrap_or(u32::MAX)
}

/// One pixel, or one point.
fn least_data_bytes(kind: PayloadKind) -> usize {
    match kind {
        PayloadKind::Imu => 0,
        PayloadKind::Image => sample::PIXEL_BYTES,
        PayloadKind::PointCloud => sample::POINT_BYTES,
    }
}
