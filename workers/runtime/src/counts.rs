//! The accounts of an application after the window: what to wait for, what came, and the files that hold it.
//!
//! It reads flows and recorders when they are settled; it judges nothing.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use middlemark_contract::{ApplicationSpec, ExpectedMessages, Published, Received, SubscriberCounts};

use crate::files::{self, Beyond};
use crate::flow::Flow;
use crate::inlet::{Intake, Part};
use crate::journal::Journal;
use crate::recorder::Recorder;
use crate::reserve::Publication;

/// What a publisher recorded.
pub(crate) struct Outgoing(Arc<Recorder<Published>>);

impl Outgoing {
    pub(crate) fn of(publication: &Publication) -> Outgoing {
        Outgoing(Arc::clone(&publication.recorder))
    }
}

/// Tells each flow how many messages to wait for; returns how many flows still miss some.
pub(crate) fn expect(spec: &ApplicationSpec, intakes: &[Arc<Intake>], expected: &[ExpectedMessages]) -> usize {
    flows(intakes)
        .filter(|(intake, index, flow)| {
            let stream = &spec.streams[usize::from(intake.channel.number / 2)].name;
            let publisher = if is_client(intake) {
                intake.channel.index
            } else {
                *index
            };
            let sent = expected
                .iter()
                .find(|expected| &expected.stream == stream && expected.publisher == publisher)
                .map_or(0, |expected| expected.sent);
            !flow.expect(sent)
        })
        .count()
}

/// Ends recording, counts, and writes the files.
///
/// # Errors
/// The file that could not be written.
pub(crate) fn collect(
    spec: &ApplicationSpec,
    intakes: &[Arc<Intake>],
    outgoing: &[Outgoing],
    nodes: &[Journal],
) -> io::Result<(Vec<SubscriberCounts>, Vec<String>)> {
    let sealed: Vec<usize> = intakes.iter().map(|intake| intake.recorder.seal()).collect();
    for (_, _, flow) in flows(intakes) {
        while !flow.is_settled() {
            std::hint::spin_loop();
        }
    }
    let counts = flows(intakes)
        .map(|(intake, index, flow)| count(spec, intake, index, flow))
        .collect();
    Ok((counts, write(spec, intakes, &sealed, outgoing, nodes)?))
}

fn flows(intakes: &[Arc<Intake>]) -> impl Iterator<Item = (&Arc<Intake>, u16, &Flow)> {
    intakes
        .iter()
        .flat_map(|intake| (0..).zip(&intake.flows).map(move |(index, flow)| (intake, index, flow)))
}

fn is_client(intake: &Intake) -> bool {
    matches!(intake.part, Part::Client(_))
}

fn count(spec: &ApplicationSpec, intake: &Intake, index: u16, flow: &Flow) -> SubscriberCounts {
    let answers = is_client(intake);
    let own = intake.channel.index;
    let (publisher, subscriber) = if answers { (own, index) } else { (index, own) };
    let late = flow.late.load(Relaxed);
    SubscriberCounts {
        stream: spec.streams[usize::from(intake.channel.number / 2)].name.clone(),
        answers,
        publisher,
        subscriber,
        received: u64::from(flow.arrived()) - late,
        late,
        duplicates: flow.duplicates.load(Relaxed),
        duplicates_received_ns: flow.duplicates_received_ns(),
        reordered: flow.reordered.load(Relaxed),
        corrupt: flow.corrupt.load(Relaxed),
        // Foreign messages have no flow: they stand with the subscriber's first.
        foreign: if index == 0 { intake.foreign.load(Relaxed) } else { 0 },
        negative: flow.negative.load(Relaxed),
        beyond_samples: flow.beyond_samples.load(Relaxed),
    }
}

fn write(
    spec: &ApplicationSpec,
    intakes: &[Arc<Intake>],
    sealed: &[usize],
    outgoing: &[Outgoing],
    nodes: &[Journal],
) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    let mut path = |kind: &str| -> PathBuf {
        let name = format!("{}.{kind}", spec.application);
        let path = spec.recording.folder.join(&name);
        files.push(name);
        path
    };
    if !intakes.is_empty() {
        files::write_records(&path("received.npy"), received(intakes, sealed))?;
    }
    if !outgoing.is_empty() {
        files::write_records(&path("published.npy"), published(outgoing))?;
    }
    if !nodes.is_empty() {
        let executions = nodes.iter().flat_map(|node| &node.executions).copied();
        files::write_records(&path("executions.npy"), executions)?;
        let inputs = nodes.iter().flat_map(|node| &node.inputs).copied();
        files::write_records(&path("inputs.npy"), inputs)?;
        let outputs = nodes.iter().flat_map(|node| &node.outputs).copied();
        files::write_records(&path("outputs.npy"), outputs)?;
    }
    let beyond = beyond(spec, intakes);
    if !beyond.is_empty() {
        files::write_histograms(&path("beyond.hlog"), &beyond)?;
    }
    Ok(files)
}

fn received<'a>(intakes: &'a [Arc<Intake>], sealed: &'a [usize]) -> impl Iterator<Item = Received> + 'a {
    // SAFETY: sealed, and every flow was waited for until no admitted message was still being recorded.
    intakes
        .iter()
        .zip(sealed)
        .flat_map(|(intake, count)| unsafe { intake.recorder.samples(*count) })
}

fn published(outgoing: &[Outgoing]) -> impl Iterator<Item = Published> + '_ {
    // SAFETY: sealed here; the publisher's thread told its counts, after which it records nothing.
    outgoing
        .iter()
        .flat_map(|Outgoing(recorder)| unsafe { recorder.samples(recorder.seal()) })
}

fn beyond<'a>(spec: &ApplicationSpec, intakes: &'a [Arc<Intake>]) -> Vec<Beyond<'a>> {
    flows(intakes)
        .filter(|(_, _, flow)| flow.beyond_samples.load(Relaxed) > 0)
        .map(|(intake, index, _)| {
            let stream = &spec.streams[usize::from(intake.channel.number / 2)].name;
            let own = intake.channel.index;
            let tag = if is_client(intake) {
                format!("{stream}.{own}.{index}.round_trips")
            } else {
                format!("{stream}.{index}.{own}")
            };
            Beyond {
                tag,
                latencies: &intake.overflow[usize::from(index)],
            }
        })
        .collect()
}
