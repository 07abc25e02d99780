//! The ledger of a place, in the form of `middlemark`'s own and beside those: whatever ends this process, the next
//! `middlemark run` or `middlemark clean` removes what is listed.
//!
//! The front's `testbed/processes/entry.py` has the form; it removes nothing itself.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail, ensure};
use rustix::fs::{FlockOperation, flock};
use serde::Serialize;

/// Of what has a name of its own.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Folder,
    /// By the name that is part of all its files' names.
    SharedMemory,
    /// Shared memory that a library made under a name of its own.
    File,
}

#[derive(Serialize)]
struct Line<'a> {
    op: &'a str,
    mark: String,
    kind: Kind,
    what: &'a str,
}

/// The list of what a place takes of the machine; it is gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    /// Locked as long as this process lives, which is how a sweep knows that it does.
    file: File,
    marks: AtomicU32,
}

impl Ledger {
    /// An empty one, for a place of this name.
    pub(crate) fn open(name: &str) -> Result<Ledger> {
        let folder = folder()?;
        let path = folder.join(format!("{}-{name}.jsonl", process::id()));
        loop {
            let file = OpenOptions::new()
                .append(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
                .with_context(|| format!("making the ledger {}", path.display()))?;
            flock(&file, FlockOperation::LockExclusive).context("locking a ledger")?;
            // A sweep may have locked it first, and have taken it for one whose owner is gone.
            if file.metadata()?.nlink() > 0 {
                let marks = AtomicU32::new(0);
                return Ok(Ledger { path, file, marks });
            }
        }
    }

    /// Lists what is about to be made.
    pub(crate) fn enter(&self, kind: Kind, what: &str) -> Result<()> {
        let mark = format!("{:x}", self.marks.fetch_add(1, Ordering::Relaxed));
        let op = "create";
        let mut line = serde_json::to_vec(&Line { op, mark, kind, what })?;
        line.push(b'\n');
        (&self.file).write_all(&line).context("writing a ledger")
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Where ledgers lie: this user's alone.
fn folder() -> Result<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty());
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/state"));
    let Some(base) = state.map(PathBuf::from).or_else(home) else {
        bail!("no place for ledgers: neither XDG_STATE_HOME nor HOME is set");
    };
    let own = base.join("middlemark");
    for folder in [own.clone(), own.join("ledgers")] {
        make_private(&folder)?;
    }
    Ok(own.join("ledgers"))
}

fn make_private(folder: &Path) -> Result<()> {
    let user = rustix::process::geteuid().as_raw();
    let existing = folder.ancestors().find_map(|path| path.symlink_metadata().ok());
    let owner = existing.map_or(0, |found| found.uid());
    ensure!(owner == user || owner == 0, "{} is another user's", folder.display());
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("making {}", folder.display()))?;
    let found = folder.symlink_metadata()?;
    ensure!(
        found.is_dir() && found.uid() == user,
        "{} is no folder of this user",
        folder.display()
    );
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}
