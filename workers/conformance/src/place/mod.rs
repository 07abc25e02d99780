//! Where a trial takes place: names, numbers, ports and a folder that no other trial on the machine has now.
//!
//! Slots are those of `middlemark` itself (the same abstract sockets, domains and ports), so that the suite and a campaign
//! can run side by side; the kernel frees a slot whatever becomes of this process. The folder is removed when the place
//! is dropped, as is listed shared memory; of a process that was killed, `ledger` has both for the next sweep.

mod ledger;

use std::collections::BTreeSet;
use std::fs;
use std::hash::BuildHasher;
use std::net::{IpAddr, Ipv4Addr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use middlemark_contract::Rendezvous;
use tempfile::TempDir;

use crate::place::ledger::{Kind, Ledger};

/// The host of every application of the suite.
pub(crate) const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Its interface.
pub(crate) const INTERFACE: &str = "lo";

/// As many as there are domains.
const SLOTS: u16 = 100;
/// The ports of DDS domain d begin at 7400 + 250 d; a slot's own come behind those of its domain's participants.
const FIRST_PORT: u16 = 7400;
const PORTS_PER_SLOT: u16 = 250;
const PORTS_OF_DOMAIN: u16 = 150;

/// Walks through the slots, so that a trial meets no port that was closed a moment ago.
static NEXT: AtomicU16 = AtomicU16::new(0);

/// A claimed place; it lasts as long as this.
pub(crate) struct Place {
    pub(crate) rendezvous: Rendezvous,
    folder: TempDir,
    /// The shared memory of the machine when the place was claimed.
    before: BTreeSet<PathBuf>,
    ledger: Ledger,
    /// Shared memory of the trial that has no name of ours.
    nameless: Mutex<Vec<PathBuf>>,
    _claim: UnixDatagram,
}

impl Place {
    /// Claims a place that nobody has.
    pub(crate) fn claim() -> Result<Place> {
        let (domain, claim) = claim_slot()?;
        let random = std::hash::RandomState::new().hash_one((domain, process::id()));
        let name = format!("mm{domain:02}{:010x}", random >> 24);
        let ledger = Ledger::open(&name)?;
        ledger.enter(Kind::Folder, &std::env::temp_dir().join(&name).to_string_lossy())?;
        ledger.enter(Kind::SharedMemory, &name)?;
        let folder = tempfile::Builder::new()
            .prefix(&name)
            .rand_bytes(0)
            .tempdir()
            .context("making a trial's folder")?;
        fs::create_dir(folder.path().join("samples")).context("making a folder for samples")?;
        let rendezvous = Rendezvous {
            name,
            token: random as u32,
            domain,
            first_port: first_port(domain),
            ports: PORTS_PER_SLOT - PORTS_OF_DOMAIN,
            folder: folder.path().to_owned(),
        };
        Ok(Place {
            rendezvous,
            folder,
            before: shared_memory(),
            ledger,
            nameless: Mutex::default(),
            _claim: claim,
        })
    }

    /// Whether this shared memory was left here by someone before.
    pub(crate) fn found_before(&self, path: &Path) -> bool {
        self.before.contains(path)
    }

    /// Lists shared memory of the trial that has no name of ours.
    pub(crate) fn enter(&self, shared_memory: &Path) -> Result<()> {
        self.ledger.enter(Kind::File, &shared_memory.to_string_lossy())?;
        let mut nameless = self.nameless.lock().unwrap_or_else(PoisonError::into_inner);
        nameless.push(shared_memory.to_owned());
        Ok(())
    }

    /// The shared memory that there is with the trial's name.
    pub(crate) fn named_shared_memory(&self) -> impl Iterator<Item = PathBuf> {
        shared_memory()
            .into_iter()
            .filter(|path| path.to_string_lossy().contains(&self.rendezvous.name))
    }

    /// Where applications leave their samples.
    pub(crate) fn samples(&self) -> PathBuf {
        self.folder.path().join("samples")
    }
}

/// What is listed goes with its place, as whoever made it may have been killed; `traces` has looked for it by then.
impl Drop for Place {
    fn drop(&mut self) {
        let nameless = std::mem::take(self.nameless.get_mut().unwrap_or_else(PoisonError::into_inner));
        for path in self.named_shared_memory().chain(nameless) {
            let _ = fs::remove_file(path);
        }
    }
}

fn shared_memory() -> BTreeSet<PathBuf> {
    let files = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    files.map(|entry| entry.path()).collect()
}

fn claim_slot() -> Result<(u16, UnixDatagram)> {
    for _ in 0..SLOTS {
        let domain = NEXT.fetch_add(1, Ordering::Relaxed) % SLOTS;
        let name = SocketAddr::from_abstract_name(format!("middlemark-slot-{domain}"))?;
        match UnixDatagram::bind_addr(&name) {
            Ok(claim) if ports_are_free(domain) => return Ok((domain, claim)),
            _ => {} // another's
        }
    }
    bail!("all {SLOTS} slots for trials are taken on this machine, or their ports are in use")
}

fn first_port(domain: u16) -> u16 {
    FIRST_PORT + PORTS_PER_SLOT * domain + PORTS_OF_DOMAIN
}

fn ports_are_free(domain: u16) -> bool {
    let first = FIRST_PORT + PORTS_PER_SLOT * domain;
    (first..first + PORTS_PER_SLOT).all(|port| {
        let any = (Ipv4Addr::UNSPECIFIED, port);
        TcpListener::bind(any).is_ok() && UdpSocket::bind(any).is_ok()
    })
}
