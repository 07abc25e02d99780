//! The file that a recording leaves: an `.npy` array of events, in the order in which the ring buffer gave them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use npyz::{NpyWriter, WriterBuilder};
use syscalls::Sysno;

use crate::error::ObserverError;
use crate::event::{CALLED, Event};

/// A recording under way. The ring buffer's callback writes into it while its owner looks at it, hence the cell.
pub(crate) struct Recording {
    path: PathBuf,
    written: RefCell<Written>,
}

struct Written {
    writer: NpyWriter<Event, BufWriter<File>>,
    events: u64,
    calls: BTreeMap<i64, String>,
    failed: Option<io::Error>,
}

impl Recording {
    pub(crate) fn create(path: &Path) -> Result<Self, ObserverError> {
        let writer = File::create(path)
            .and_then(|file| {
                npyz::WriteOptions::new()
                    .default_dtype()
                    .writer(BufWriter::with_capacity(1 << 20, file))
                    .begin_1d()
            })
            .map_err(|source| ObserverError::Recording {
                path: path.to_owned(),
                source,
            })?;
        let written = Written {
            writer,
            events: 0,
            calls: BTreeMap::new(),
            failed: None,
        };
        Ok(Self {
            path: path.to_owned(),
            written: RefCell::new(written),
        })
    }

    /// Keeps one record of the ring buffer; the first failure is told by [`Self::finish`].
    pub(crate) fn keep(&self, bytes: &[u8]) {
        let mut written = self.written.borrow_mut();
        let Some(event) = Event::read(bytes) else {
            written
                .failed
                .get_or_insert_with(|| io::Error::other("a record is not of the agreed size"));
            return;
        };
        if event.kind == CALLED {
            written.calls.entry(event.value).or_insert_with(|| name_of(event.value));
        }
        match written.writer.push(&event) {
            Ok(()) => written.events += 1,
            Err(error) => {
                written.failed.get_or_insert(error);
            }
        }
    }

    /// Completes the file: how many events are in it, and the names of the system calls.
    pub(crate) fn finish(self) -> Result<(u64, BTreeMap<i64, String>), ObserverError> {
        let Written {
            writer,
            events,
            calls,
            failed,
        } = self.written.into_inner();
        failed
            .map_or(Ok(()), Err)
            .and_then(|()| writer.finish())
            .map_err(|source| ObserverError::Recording {
                path: self.path,
                source,
            })?;
        Ok((events, calls))
    }
}

fn name_of(number: i64) -> String {
    let known = usize::try_from(number).ok().and_then(Sysno::new);
    known.map_or_else(|| format!("call_{number}"), |call| call.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_the_names_of_this_machine() {
        assert_eq!(name_of(libc::SYS_futex), "futex");
        assert_eq!(name_of(-1), "call_-1");
    }

    #[test]
    fn a_record_of_another_size_is_told_at_the_end() {
        let path = std::env::temp_dir().join(format!("middlemark-recording-{}.npy", std::process::id()));
        let recording = Recording::create(&path).unwrap();
        recording.keep(&[0; 3]);
        let error = recording.finish().unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(error.exit_code(), 3);
    }
}
