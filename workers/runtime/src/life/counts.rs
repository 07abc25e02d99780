//! The accounts of an application after the window: what to wait for, what came, and the files that hold it.
//!
//! It closes flows and recorders and reads them; it judges nothing.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use middlemark_contract::{ApplicationSpec, ExpectedMessages, Published, Received, SubscriberCounts};

use crate::life::reserve::Publication;
use crate::node::journal::Journal;
use crate::receive::flow::{Flow, FlowCounts};
use crate::receive::receiver::state::{Part, ReceiverState};
use crate::recorder::Recorder;
use crate::recorder::files::{self, Beyond};

/// What a publisher recorded.
pub(crate) struct PublisherRecords(Arc<Recorder<Published>>);

impl PublisherRecords {
    pub(crate) fn of(publication: &Publication) -> PublisherRecords {
        PublisherRecords(Arc::clone(&publication.recorder))
    }
}

/// Tells each flow how many messages to wait for; returns how many flows still miss some.
pub(crate) fn expect(spec: &ApplicationSpec, receivers: &[Arc<ReceiverState>], expected: &[ExpectedMessages]) -> usize {
    flows(receivers)
        .filter(|(receiver, index, _)| is_joined(spec, receiver, *index))
        .filter(|(receiver, index, flow)| {
            let stream = &spec.streams[receiver.channel.stream()].name;
            let (publisher, _) = ends(receiver, *index);
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
    receivers: &[Arc<ReceiverState>],
    publishers: &[PublisherRecords],
    nodes: &[Journal],
) -> io::Result<(Vec<SubscriberCounts>, Vec<String>)> {
    let all: Vec<_> = flows(receivers)
        .map(|(receiver, index, flow)| (receiver, index, flow.close()))
        .collect();
    let told = all
        .into_iter()
        .filter(|(receiver, index, _)| is_joined(spec, receiver, *index));
    let counts = told
        .map(|(receiver, index, counts)| count(spec, receiver, index, counts))
        .collect();
    // Behind the flows: once they are closed nothing is recorded any more.
    let sealed: Vec<usize> = receivers.iter().map(|receiver| receiver.recorder.seal()).collect();
    Ok((counts, write(spec, receivers, &sealed, publishers, nodes)?))
}

fn flows(receivers: &[Arc<ReceiverState>]) -> impl Iterator<Item = (&Arc<ReceiverState>, u16, &Flow)> {
    receivers.iter().flat_map(|receiver| {
        (0..)
            .zip(&receiver.flows)
            .map(move |(index, flow)| (receiver, index, flow))
    })
}

/// Whether messages can come on a flow.
fn is_joined(spec: &ApplicationSpec, receiver: &ReceiverState, index: u16) -> bool {
    let (publisher, subscriber) = ends(receiver, index);
    spec.streams[receiver.channel.stream()].is_joined(publisher, subscriber)
}

/// The publisher and the subscriber of a flow's stream, whichever of them sends its messages.
fn ends(receiver: &ReceiverState, index: u16) -> (u16, u16) {
    let own = receiver.channel.index;
    if is_client(receiver) {
        (own, index)
    } else {
        (index, own)
    }
}

fn is_client(receiver: &ReceiverState) -> bool {
    matches!(receiver.part, Part::Client(_))
}

fn count(spec: &ApplicationSpec, receiver: &ReceiverState, index: u16, flow: FlowCounts) -> SubscriberCounts {
    let answers = is_client(receiver);
    let (publisher, subscriber) = ends(receiver, index);
    SubscriberCounts {
        stream: spec.streams[receiver.channel.stream()].name.clone(),
        answers,
        publisher,
        subscriber,
        received: u64::from(flow.arrived) - flow.late,
        late: flow.late,
        duplicates: flow.duplicates,
        duplicates_received_ns: flow.duplicates_received_ns,
        reordered: flow.reordered,
        corrupt: flow.corrupt,
        // Foreign messages have no flow: they stand with the subscriber's first.
        foreign: receiver.foreign.swap(0, Relaxed),
        negative: flow.negative,
        beyond_samples: flow.beyond_samples,
    }
}

fn write(
    spec: &ApplicationSpec,
    receivers: &[Arc<ReceiverState>],
    sealed: &[usize],
    publishers: &[PublisherRecords],
    nodes: &[Journal],
) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    let mut path = |kind: &str| -> PathBuf {
        let name = format!("{}.{kind}", spec.application);
        let path = spec.recording.folder.join(&name);
        files.push(name);
        path
    };
    if !receivers.is_empty() {
        files::write_records(&path("received.npy"), received(receivers, sealed))?;
    }
    if !publishers.is_empty() {
        files::write_records(&path("published.npy"), published(publishers))?;
    }
    if !nodes.is_empty() {
        let executions = nodes.iter().flat_map(|node| &node.executions).copied();
        files::write_records(&path("executions.npy"), executions)?;
        let inputs = nodes.iter().flat_map(|node| &node.inputs).copied();
        files::write_records(&path("inputs.npy"), inputs)?;
        let outputs = nodes.iter().flat_map(|node| &node.outputs).copied();
        files::write_records(&path("outputs.npy"), outputs)?;
    }
    let beyond = beyond(spec, receivers);
    if !beyond.is_empty() {
        files::write_histograms(&path("beyond.hlog"), &beyond)?;
    }
    Ok(files)
}

fn received<'a>(receivers: &'a [Arc<ReceiverState>], sealed: &'a [usize]) -> impl Iterator<Item = Received> + 'a {
    // SAFETY: sealed, and every flow is closed, after which no message is being recorded.
    receivers
        .iter()
        .zip(sealed)
        .flat_map(|(receiver, count)| unsafe { receiver.recorder.samples(*count) })
}

fn published(publishers: &[PublisherRecords]) -> impl Iterator<Item = Published> + '_ {
    // SAFETY: sealed here; the publisher's thread told its counts, after which it records nothing.
    publishers
        .iter()
        .flat_map(|PublisherRecords(recorder)| unsafe { recorder.samples(recorder.seal()) })
}

fn beyond<'a>(spec: &ApplicationSpec, receivers: &'a [Arc<ReceiverState>]) -> Vec<Beyond<'a>> {
    flows(receivers)
        .filter(|(_, _, flow)| flow.beyond_samples.load(Relaxed) > 0)
        .map(|(receiver, index, _)| {
            let stream = &spec.streams[receiver.channel.stream()].name;
            let own = receiver.channel.index;
            let tag = if is_client(receiver) {
                format!("{stream}.{own}.{index}.round_trips")
            } else {
                format!("{stream}.{index}.{own}")
            };
            Beyond {
                tag,
                latencies: &receiver.overflow[usize::from(index)],
            }
        })
        .collect()
}
