//! What a trial counted, and whether the counts and the samples tell the same story.
//!
//! Nothing is taken on trust: counts of the two sides are compared with each other and with the files they left.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use middlemark_contract::{Published, PublisherCounts, Received, SubscriberCounts};
use npyz::{Deserialize, NpyFile};

use crate::request::Request;

/// The counts of a trial and its files of samples.
pub(crate) struct Outcome {
    pub(crate) request: Request,
    pub(crate) publishers: Vec<PublisherCounts>,
    pub(crate) subscribers: Vec<SubscriberCounts>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) received: Vec<Received>,
    pub(crate) published: Vec<Published>,
}

impl Outcome {
    /// Reads the samples at once, as the trial's folder does not outlive it.
    pub(crate) fn read(
        request: Request,
        publishers: Vec<PublisherCounts>,
        subscribers: Vec<SubscriberCounts>,
        files: Vec<PathBuf>,
    ) -> Result<Outcome> {
        Ok(Outcome {
            request,
            publishers,
            subscribers,
            received: records(&files, ".received.npy")?,
            published: records(&files, ".published.npy")?,
            files,
        })
    }

    /// Sent = received + late + lost for every pair, nothing came that was not sent, and where every message has to
    /// arrive, every one did.
    pub(crate) fn check(&self) -> Result<()> {
        for publisher in &self.publishers {
            ensure!(
                publisher.intended == publisher.sent + publisher.refused + publisher.unsent,
                "intended is not sent + refused + unsent: {publisher:?}"
            );
            ensure!(publisher.sent > 0, "nothing was sent: {publisher:?}");
            let refuses_nothing = self.request.is_reliable() && self.request.waits_for_room();
            ensure!(
                publisher.refused == 0 || !refuses_nothing,
                "refused on an idle machine: {publisher:?}"
            );
        }
        for subscriber in &self.subscribers {
            self.check_pair(subscriber)?;
        }
        Ok(())
    }

    fn check_pair(&self, subscriber: &SubscriberCounts) -> Result<()> {
        let sent = u64::from(self.sent(subscriber)?.sent);
        let arrived = subscriber.received + subscriber.late;
        ensure!(
            arrived <= sent,
            "more arrived than the {sent} that were sent: {subscriber:?}"
        );
        ensure!(arrived > 0, "nothing of the {sent} sent arrived: {subscriber:?}");
        ensure!(subscriber.corrupt == 0, "messages arrived damaged: {subscriber:?}");
        ensure!(subscriber.foreign == 0, "messages of others arrived: {subscriber:?}");
        ensure!(
            subscriber.negative == 0,
            "messages arrived before they were sent: {subscriber:?}"
        );
        if self.request.is_reliable() {
            ensure!(arrived == sent, "{} of {sent} lost: {subscriber:?}", sent - arrived);
            ensure!(subscriber.duplicates == 0, "messages arrived twice: {subscriber:?}");
        }
        Ok(())
    }

    fn sent(&self, of: &SubscriberCounts) -> Result<&PublisherCounts> {
        self.publishers
            .iter()
            .find(|counts| counts.stream == of.stream && counts.publisher == of.publisher)
            .with_context(|| format!("no publisher told what was sent of {of:?}"))
    }

    /// Every pair of the request has counts, and only these.
    pub(crate) fn check_complete(&self) -> Result<()> {
        let (mut pairs, mut publishers) = (0, 0);
        for stream in &self.request.streams {
            let ends =
                |publisher| (0..stream.subscribers.len()).filter(move |end| stream.is_joined(publisher, *end as u16));
            let joined: usize = (0..stream.publishers.len() as u16)
                .map(|publisher| ends(publisher).count())
                .sum();
            pairs += joined * if stream.pattern.answer_bytes().is_some() { 2 } else { 1 };
            publishers += stream.publishers.len();
        }
        ensure!(
            self.subscribers.len() == pairs && self.publishers.len() == publishers,
            "counts of {} pairs and {} publishers instead of {pairs} and {publishers}: {:?} {:?}",
            self.subscribers.len(),
            self.publishers.len(),
            self.subscribers,
            self.publishers
        );
        Ok(())
    }

    /// No message came after a later one of its publisher.
    pub(crate) fn check_order(&self) -> Result<()> {
        for subscriber in &self.subscribers {
            ensure!(
                subscriber.reordered == 0,
                "messages arrived out of order: {subscriber:?}"
            );
        }
        let mut last: BTreeMap<_, u32> = BTreeMap::new();
        for sample in &self.received {
            let before = last.insert(
                (sample.stream, sample.answer, sample.publisher, sample.subscriber),
                sample.sequence,
            );
            ensure!(
                before.is_none_or(|before| before < sample.sequence),
                "after {before:?} came {sample:?}"
            );
        }
        Ok(())
    }

    /// The numbers of all messages that were accepted, in order.
    pub(crate) fn accepted_numbers(&self) -> Vec<u32> {
        let accepted = self.published.iter().filter(|sample| sample.accepted == 1);
        let mut numbers: Vec<_> = accepted.map(|sample| sample.sequence).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The lowest and the highest number that a publisher recorded.
    pub(crate) fn published_numbers(&self) -> Option<(u32, u32)> {
        let numbers = || self.published.iter().map(|sample| sample.sequence);
        numbers().min().zip(numbers().max())
    }

    /// How many messages came with a number below this one, and how many from it on.
    pub(crate) fn received_before_and_from(&self, number: u32) -> (usize, usize) {
        let before = self.received.iter().filter(|sample| sample.sequence < number).count();
        (before, self.received.len() - before)
    }

    /// The samples are those of the counts: each message once, with the stamps that its publisher recorded.
    pub(crate) fn check_samples(&self) -> Result<()> {
        let published = &self.published;
        let stamps: BTreeMap<_, _> = published
            .iter()
            .map(|sample| ((sample.stream, sample.publisher, sample.sequence), sample))
            .collect();
        let tried: u64 = self
            .publishers
            .iter()
            .map(|counts| u64::from(counts.sent) + u64::from(counts.refused))
            .sum();
        ensure!(
            published.len() as u64 == tried && stamps.len() == published.len(),
            "{} published samples, {} of them different, for {tried} messages",
            published.len(),
            stamps.len()
        );
        let received = &self.received;
        let counted: u64 = self
            .subscribers
            .iter()
            .map(|counts| counts.received + counts.late - counts.beyond_samples)
            .sum();
        ensure!(
            received.len() as u64 == counted,
            "{} received samples for {counted} counted",
            received.len()
        );
        let mut seen = BTreeSet::new();
        for sample in received {
            let key = (
                sample.stream,
                sample.answer,
                sample.publisher,
                sample.subscriber,
                sample.sequence,
            );
            ensure!(seen.insert(key), "a message was recorded twice: {sample:?}");
            let sent = stamps
                .get(&(sample.stream, sample.publisher, sample.sequence))
                .with_context(|| format!("received, but never published: {sample:?}"))?;
            ensure!(sent.accepted == 1, "received, but refused: {sample:?} {sent:?}");
            let handed = (sent.sent_ns, sent.intended_ns + sent.fill_ns);
            ensure!(
                sample.answer == 1 || (sample.sent_ns, sample.intended_ns) == handed,
                "the stamps of the two sides differ: {sample:?} {sent:?}"
            );
            ensure!(
                sample.intended_ns <= sample.sent_ns && (sample.answer == 0 || sent.sent_ns <= sample.intended_ns),
                "sent before it was due: {sample:?} {sent:?}"
            );
            ensure!(
                sample.received_ns >= sample.sent_ns,
                "received before it was sent: {sample:?}"
            );
        }
        Ok(())
    }
}

/// Every record in the files of this ending.
pub(crate) fn records<T: Deserialize>(files: &[PathBuf], ending: &str) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for path in files.iter().filter(|path| path.to_string_lossy().ends_with(ending)) {
        all.extend(read(path).with_context(|| format!("reading {}", path.display()))?);
    }
    Ok(all)
}

fn read<T: Deserialize>(path: &Path) -> Result<Vec<T>> {
    Ok(NpyFile::new(BufReader::new(File::open(path)?))?.into_vec()?)
}
