//! Writes an application's samples out, after the window: `.npy` for samples, an `HdrHistogram` log for what is beyond.
//!
//! It runs when nothing is recorded any more and computes nothing; the records are those of the contract.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use npyz::{AutoSerialize, WriterBuilder};

use crate::recorder::Overflow;

/// Writes records as a one-dimensional structured array.
///
/// # Errors
/// The file that could not be written.
pub(crate) fn write_records<T: npyz::Serialize + AutoSerialize>(
    path: &Path,
    records: impl Iterator<Item = T>,
) -> io::Result<()> {
    let records: Vec<T> = records.collect();
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(&[records.len() as u64])
        .writer(BufWriter::new(File::create(path)?))
        .begin_nd()?;
    writer.extend(records)?;
    writer.finish()
}

/// One flow's latencies beyond the sample memory, with the tag that names the flow.
pub(crate) struct Beyond<'a> {
    pub(crate) tag: String,
    pub(crate) latencies: &'a Overflow,
}

/// Writes the histograms of all flows that have one.
///
/// # Errors
/// The file that could not be written.
pub(crate) fn write_histograms(path: &Path, flows: &[Beyond<'_>]) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .with_start_time(SystemTime::UNIX_EPOCH)
        .with_max_value_divisor(1.0)
        .begin_log_with(&mut out, &mut serializer)?;
    for flow in flows {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).map_err(io::Error::other)?;
        for (latency_ns, count) in flow.latencies.counts() {
            histogram.saturating_record_n(latency_ns, count);
        }
        log.write_histogram(&histogram, Duration::ZERO, Duration::ZERO, Tag::new(&flow.tag))
            .map_err(io::Error::other)?;
    }
    drop(log);
    out.flush() // A drop doesn't tell what it could not write.
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_whatever_is_written() {
        let full = Path::new("/dev/full");
        let latencies = Overflow::new();
        latencies.record(7);
        let beyond = Beyond {
            tag: "flow".into(),
            latencies: &latencies,
        };
        for written in [
            write_records(full, [7_u64].into_iter()),
            write_histograms(full, &[beyond]),
        ] {
            assert_eq!(written.unwrap_err().kind(), io::ErrorKind::StorageFull);
        }
    }
}
