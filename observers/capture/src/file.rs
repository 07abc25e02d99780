//! The pcapng file: its links as interfaces, frames up to its bound, and at its end what is not in it.
//!
//! It hears nothing itself: `tap` gives the frames.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::blocks::interface_statistics::{InterfaceStatisticsBlock, InterfaceStatisticsOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};

use crate::error::CaptureError;
use crate::message::{Frames, Link, Spec};

const BUFFER_BYTES: usize = 1 << 20;
/// The exponent of ten of the stamps' unit.
const NANOSECONDS: u8 = 9;
/// What a packet takes beside its data: its block's head and tail, its flags, at most three bytes to fill up.
const BLOCK_BYTES: u64 = 48;
/// The direction in a packet's flags, seen from the host.
const RECEIVED: u32 = 1;
const SENT: u32 = 2;

/// A frame as it passed.
pub(crate) struct Frame<'a> {
    pub(crate) at: Duration,
    pub(crate) is_sent: bool,
    pub(crate) kept: &'a [u8],
    pub(crate) length: usize,
}

pub(crate) struct CaptureFile<W: Write = BufWriter<File>> {
    path: PathBuf,
    writer: PcapNgWriter<Counting<W>>,
    most_bytes: u64,
    is_full: bool,
}

impl CaptureFile {
    pub(crate) fn create(spec: &Spec) -> Result<Self, CaptureError> {
        let file = File::create_new(&spec.file).map_err(|error| unwritable(&spec.file, &error))?;
        Self::begin(BufWriter::with_capacity(BUFFER_BYTES, file), spec)
    }
}

impl<W: Write> CaptureFile<W> {
    fn begin(inner: W, spec: &Spec) -> Result<Self, CaptureError> {
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed(concat!(
                "middlemark-capture ",
                env!("CARGO_PKG_VERSION")
            )))],
            ..Default::default()
        };
        let failed = |error: PcapError| unwritable(&spec.file, &error);
        let mut writer = PcapNgWriter::with_section_header(Counting { inner, bytes: 0 }, section).map_err(failed)?;
        for link in &spec.links {
            writer
                .write_pcapng_block(described(link, spec.snap_bytes))
                .map_err(failed)?;
        }
        Ok(Self {
            path: spec.file.clone(),
            writer,
            most_bytes: spec.most_bytes,
            is_full: false,
        })
    }

    /// Writes a frame of a link and counts it, or counts it as beyond the bound; after one that is, all are.
    pub(crate) fn add(&mut self, link: usize, frame: &Frame<'_>, frames: &mut Frames) -> Result<(), CaptureError> {
        let size_bytes = self.writer.get_ref().bytes + BLOCK_BYTES + frame.kept.len() as u64;
        self.is_full |= size_bytes > self.most_bytes;
        if self.is_full {
            frames.beyond += 1;
            return Ok(());
        }
        frames.captured += 1;
        frames.cut += u64::from(frame.kept.len() < frame.length);
        let block = EnhancedPacketBlock {
            interface_id: link as u32,
            timestamp: frame.at,
            original_len: frame.length as u32,
            data: Cow::Borrowed(frame.kept),
            options: vec![EnhancedPacketOption::Flags(if frame.is_sent { SENT } else { RECEIVED })],
        };
        match self.writer.write_pcapng_block(block) {
            Ok(_) => Ok(()),
            Err(error) => Err(unwritable(&self.path, &error)),
        }
    }

    /// Says in the file what passed each link and is not in it, and gives the file's size.
    pub(crate) fn finish(mut self, at: Duration, links: &[Frames]) -> Result<u64, CaptureError> {
        let failed = |error: PcapError| unwritable(&self.path, &error);
        for (number, frames) in links.iter().enumerate() {
            let block = InterfaceStatisticsBlock {
                interface_id: number as u32,
                timestamp: halves_swapped(at),
                options: vec![
                    InterfaceStatisticsOption::IsbIfRecv(frames.captured + frames.beyond + frames.lost),
                    InterfaceStatisticsOption::IsbOsDrop(frames.lost),
                    InterfaceStatisticsOption::IsbUsrDeliv(frames.captured),
                ],
            };
            self.writer.write_pcapng_block(block).map_err(failed)?;
        }
        let file = self.writer.get_mut();
        file.flush().map_err(|error| unwritable(&self.path, &error))?;
        Ok(file.bytes)
    }
}

fn described(link: &Link, snap_bytes: usize) -> InterfaceDescriptionBlock<'_> {
    InterfaceDescriptionBlock {
        linktype: DataLink::ETHERNET,
        snaplen: snap_bytes as u32,
        options: vec![
            InterfaceDescriptionOption::IfName(Cow::Borrowed(&link.name)),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ],
    }
}

/// The stamp of a statistics block: the format has its upper half first, the library writes its lower end first.
fn halves_swapped(at: Duration) -> u64 {
    (at.as_nanos() as u64).rotate_left(32)
}

fn unwritable(path: &Path, error: &impl Display) -> CaptureError {
    CaptureError::File {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}

/// Counts what is written.
struct Counting<W> {
    inner: W,
    bytes: u64,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use pcap_file::pcapng::{Block, PcapNgReader};

    use super::*;

    fn spec(most_bytes: u64) -> Spec {
        let link = |name: &str| Link {
            name: name.into(),
            interface: "unused".into(),
        };
        Spec {
            file: "memory".into(),
            snap_bytes: 4,
            most_bytes,
            links: vec![link("a/lan"), link("b/lan")],
        }
    }

    fn frame(length: usize) -> Frame<'static> {
        Frame {
            at: Duration::from_nanos(1_700_000_000_123_456_789),
            is_sent: true,
            kept: &[1, 2, 3, 4],
            length,
        }
    }

    type Packet = (u32, u128, usize, u32);

    /// Everything that a reader finds: packets as interface, stamp, kept and real length; drops by interface.
    fn read(bytes: &[u8]) -> (Vec<Packet>, Vec<u64>) {
        let (mut packets, mut passed) = (Vec::new(), Vec::new());
        let mut reader = PcapNgReader::new(bytes).unwrap();
        while let Some(block) = reader.next_block() {
            match block.unwrap() {
                Block::EnhancedPacket(it) => {
                    packets.push((it.interface_id, it.timestamp.as_nanos(), it.data.len(), it.original_len));
                }
                Block::InterfaceStatistics(it) => passed.extend(it.options.iter().find_map(|option| match option {
                    InterfaceStatisticsOption::IsbIfRecv(count) => Some(*count),
                    _ => None,
                })),
                _ => {}
            }
        }
        (packets, passed)
    }

    #[test]
    fn frames_are_read_back_with_their_stamps_and_real_lengths() {
        let mut bytes = Vec::new();
        let mut file = CaptureFile::begin(&mut bytes, &spec(10_000)).unwrap();
        let mut links = [Frames::default(); 2];
        file.add(0, &frame(4), &mut links[0]).unwrap();
        file.add(1, &frame(1500), &mut links[1]).unwrap();
        let size_bytes = file.finish(Duration::from_secs(1), &links).unwrap();
        assert_eq!(size_bytes, bytes.len() as u64);
        let at_ns = 1_700_000_000_123_456_789;
        assert_eq!(read(&bytes), (vec![(0, at_ns, 4, 4), (1, at_ns, 4, 1500)], vec![1, 1]));
        assert_eq!((links[0].cut, links[1].cut), (0, 1));
    }

    #[test]
    fn what_is_beyond_the_bound_is_counted_and_the_file_stays_below_it() {
        let mut bytes = Vec::new();
        let mut file = CaptureFile::begin(&mut bytes, &spec(500)).unwrap();
        let mut links = [Frames::default(); 2];
        for _ in 0..100 {
            file.add(0, &frame(60), &mut links[0]).unwrap();
        }
        assert_eq!(links[0].captured + links[0].beyond, 100);
        assert!(links[0].captured > 0 && links[0].beyond > 0);
        assert!(file.writer.get_ref().bytes <= 500);
        let captured = links[0].captured;
        file.finish(Duration::ZERO, &links).unwrap();
        let (packets, passed) = read(&bytes);
        assert_eq!((packets.len() as u64, passed), (captured, vec![100, 0]));
    }
}
