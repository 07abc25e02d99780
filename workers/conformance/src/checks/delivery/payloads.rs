//! Whether typed messages arrive in each serialisation that a worker describes, and whether what is none is found.
//!
//! How a type lies in bytes the runtime's own tests know; here it passes through the middleware.

use anyhow::{Context, Result, ensure};
use middlemark_contract::{PayloadKind, PayloadSpec, SMALLEST_MESSAGE_BYTES, Serialisation};

use super::carried;
use crate::case::{Answer, Case};
use crate::checks::refusals::refused_as;
use crate::place::Place;
use crate::request::Request;
use crate::trial::Trial;

const KINDS: [PayloadKind; 3] = [PayloadKind::Imu, PayloadKind::Image, PayloadKind::PointCloud];

const SERIALISATIONS: [Serialisation; 4] = [
    Serialisation::Cdr,
    Serialisation::Protobuf,
    Serialisation::Someip,
    Serialisation::Plain,
];

/// The one size of an inertial measurement, and one that the other types have in each serialisation.
const IMU_BYTES: u64 = 380;
const SIZE_BYTES: u64 = 1000;

/// All types at once, in each serialisation and in the one that is the worker's own.
pub(crate) fn pass(case: &Case) -> Result<Answer> {
    let has = &case.worker.description.capabilities.serialisations;
    if has.is_empty() {
        return Ok(lacks());
    }
    for asked in has.iter().copied().map(Some).chain([None]) {
        let outcome = carried(case, typed(case, asked)).with_context(|| format!("messages in {asked:?}"))?;
        let is_serialised = asked.unwrap_or(has[0]) != Serialisation::Plain;
        for sample in &outcome.published {
            ensure!(
                (sample.serialise_ns > 0) == is_serialised && i64::from(sample.serialise_ns) <= sample.fill_ns,
                "in {asked:?}: {sample:?}"
            );
        }
        for sample in &outcome.received {
            ensure!((sample.deserialise_ns > 0) == is_serialised, "in {asked:?}: {sample:?}");
        }
    }
    Ok(Answer::Passed)
}

/// A publisher that sends octets where its subscriber expects messages of a type: each of them is found.
pub(crate) fn octets_are_found(case: &Case) -> Result<Answer> {
    if case.worker.description.capabilities.serialisations.is_empty() {
        return Ok(lacks());
    }
    let place = Place::claim()?;
    let mut trial = Trial::prepare(case, &place, typed(case, None))?;
    trial.arm(&["subscriber_0".into()])?;
    trial.request = trial.request.clone().each(|stream| stream.payload = None);
    trial.arm(&["publisher_0".into()])?;
    trial.start_all()?;
    trial.meet()?;
    trial.open_window()?;
    let publishers = trial.published()?;
    let outcome = trial.drain_briefly(publishers)?;
    for counts in &outcome.subscribers {
        ensure!(
            counts.received + counts.late == 0 && counts.corrupt > 0,
            "octets were taken for messages of a type: {counts:?}"
        );
    }
    trial.stop()?;
    Ok(Answer::Passed)
}

/// Sizes that a type can't have, and serialisations that the worker hasn't.
pub(crate) fn unfit_are_refused(case: &Case) -> Result<Answer> {
    let has = &case.worker.description.capabilities.serialisations;
    let payload = |kind, serialisation| Some(PayloadSpec { kind, serialisation });
    for serialisation in SERIALISATIONS.into_iter().filter(|each| !has.contains(each)) {
        let capability = if has.is_empty() { "payload" } else { "serialisation" };
        refused_as(case, &[capability], |spec| {
            spec.streams[0].payload = payload(PayloadKind::Image, Some(serialisation));
        })?;
    }
    if has.is_empty() {
        return Ok(Answer::Passed);
    }
    for (kind, size_bytes) in KINDS
        .map(|kind| (kind, SMALLEST_MESSAGE_BYTES))
        .into_iter()
        .chain([(PayloadKind::Imu, IMU_BYTES - 1), (PayloadKind::Imu, IMU_BYTES + 1)])
    {
        refused_as(case, &["size_bytes"], |spec| {
            spec.streams[0].size_bytes = size_bytes;
            spec.streams[0].payload = payload(kind, None);
        })
        .with_context(|| format!("{kind} of {size_bytes} bytes"))?;
    }
    Ok(Answer::Passed)
}

/// A stream of each type.
fn typed(case: &Case, serialisation: Option<Serialisation>) -> Request {
    let mut request = Request::new(case)
        .size(IMU_BYTES)
        .and_sizes(&[case.fitting(SIZE_BYTES), case.fitting(SIZE_BYTES)]);
    for (stream, kind) in request.streams.iter_mut().zip(KINDS) {
        stream.payload = Some(PayloadSpec { kind, serialisation });
    }
    request
}

fn lacks() -> Answer {
    Answer::Lacks("it has no serialisation, only octets".into())
}
