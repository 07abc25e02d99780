//! Where a trial takes place: names, numbers, ports and a folder that no other trial on the machine has now.
//!
//! A slot (a domain and its ports) is claimed by binding an abstract Unix socket, which the kernel takes back whatever
//! becomes of this process; the folder is removed when the place is dropped.

use std::hash::BuildHasher;
use std::net::{IpAddr, Ipv4Addr};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};
use middlemark_contract::Rendezvous;
use tempfile::TempDir;

/// The host of every application of the suite.
pub(crate) const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Its interface.
pub(crate) const INTERFACE: &str = "lo";

/// As many as there are domains.
const SLOTS: u16 = 100;
/// Above Linux' ephemeral ports (32768 to 60999) and above every port that DDS derives from a domain up to 99.
const FIRST_PORT: u16 = 61_000;
const PORTS: u16 = 45;

static PLACES: AtomicU32 = AtomicU32::new(0);

/// A claimed place; it lasts as long as this.
pub(crate) struct Place {
    pub(crate) rendezvous: Rendezvous,
    folder: TempDir,
    _claim: UnixListener,
}

impl Place {
    /// Claims a place that nobody has.
    pub(crate) fn claim() -> Result<Place> {
        let (slot, claim) = (0..SLOTS)
            .find_map(|slot| {
                let address = SocketAddr::from_abstract_name(format!("middlemark-slot-{slot}")).ok()?;
                Some((slot, UnixListener::bind_addr(&address).ok()?))
            })
            .with_context(|| format!("all {SLOTS} slots for trials are taken on this machine"))?;
        let folder = tempfile::Builder::new()
            .prefix("mm")
            .tempdir()
            .context("making a trial's folder")?;
        std::fs::create_dir(folder.path().join("samples")).context("making a folder for samples")?;
        let number = PLACES.fetch_add(1, Ordering::Relaxed);
        let rendezvous = Rendezvous {
            name: format!("c{}_{number}", std::process::id()),
            token: std::hash::RandomState::new().hash_one(number) as u32,
            domain: slot,
            first_port: FIRST_PORT + slot * PORTS,
            ports: PORTS,
            folder: folder.path().to_owned(),
        };
        Ok(Place {
            rendezvous,
            folder,
            _claim: claim,
        })
    }

    /// Where applications leave their samples.
    pub(crate) fn samples(&self) -> PathBuf {
        self.folder.path().join("samples")
    }
}
