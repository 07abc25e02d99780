//! The BPF program in the kernel: loaded, attached, told whom to follow, and detached before its last records are read.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use libbpf_rs::libbpf_sys::{bpf_prog_get_info_by_fd, bpf_prog_info};
use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, OpenObject, RingBuffer, RingBufferBuilder};

use crate::error::ObserverError;
use crate::process;
use crate::recording::Recording;
use crate::skeleton::{KernelPathLinks, KernelPathSkel, KernelPathSkelBuilder};

/// The place of a device: the number of its network namespace, and its name there.
pub(crate) type Place = (u32, String);

/// As the program's `enum role` has them.
const OBSERVED: u8 = 1;
const FORWARDER: u8 = 2;

/// A loaded and attached program.
pub(crate) struct Program<'object> {
    skeleton: KernelPathSkel<'object>,
}

impl<'object> Program<'object> {
    /// Loads and attaches it; it follows no one yet.
    pub(crate) fn load(place: &'object mut MaybeUninit<OpenObject>) -> Result<Self, ObserverError> {
        if !process::are_numbered_as_by_the_kernel() {
            return Err(ObserverError::Container);
        }
        libbpf_rs::set_print(None);
        let open = KernelPathSkelBuilder::default().open(place);
        let mut skeleton = open
            .and_then(OpenSkel::load)
            .map_err(ObserverError::kernel("loading the program"))?;
        skeleton
            .attach()
            .map_err(ObserverError::kernel("attaching to the tracepoints"))?;
        Ok(Self { skeleton })
    }

    /// Follows these processes and their children from now on; returns all of them.
    pub(crate) fn follow(&self, processes: &[u32]) -> Result<Vec<u32>, ObserverError> {
        let all: Vec<u32> = processes
            .iter()
            .flat_map(|&process| process::with_children(process))
            .collect();
        all.iter().try_for_each(|&process| self.give(process, OBSERVED))?;
        Ok(all)
    }

    /// Records the packets that these send from now on, and nothing else of them.
    pub(crate) fn follow_packets_of(&self, forwarders: &[u32]) -> Result<(), ObserverError> {
        forwarders.iter().try_for_each(|&process| self.give(process, FORWARDER))
    }

    fn give(&self, process: u32, role: u8) -> Result<(), ObserverError> {
        self.skeleton
            .maps
            .followed
            .update(&process.to_ne_bytes(), &[role], MapFlags::ANY)
            .map_err(ObserverError::kernel("following a process"))
    }

    /// The ring buffer, whose records go into the recording.
    pub(crate) fn events<'ring>(&self, recording: &'ring Recording) -> Result<RingBuffer<'ring>, ObserverError> {
        let mut ring = RingBufferBuilder::new();
        ring.add(&self.skeleton.maps.events, |bytes| {
            recording.keep(bytes);
            0
        })
        .map_err(ObserverError::kernel("opening the ring buffer"))?;
        ring.build().map_err(ObserverError::kernel("opening the ring buffer"))
    }

    /// How many packets the programs were run for, by the device that sends them.
    pub(crate) fn handed(&self) -> Result<BTreeMap<Place, i64>, ObserverError> {
        let devices = &self.skeleton.maps.devices;
        let mut handed = BTreeMap::new();
        for key in devices.keys() {
            let looked_up = devices.lookup(&key, MapFlags::ANY);
            let Some(value) = looked_up.map_err(ObserverError::kernel("reading how many packets were seen"))? else {
                continue;
            };
            let (place, packets) = handed_of(&key, &value);
            *handed.entry(place).or_default() += packets;
        }
        Ok(handed)
    }

    /// Detaches it: no records come any more.
    pub(crate) fn detach(&mut self) {
        self.skeleton.links = KernelPathLinks::default();
    }

    /// How many records, processes, sockets and packets found no room.
    pub(crate) fn without_room(&self) -> u64 {
        self.skeleton.maps.bss_data.as_ref().map_or(0, |data| data.lost)
    }

    /// How many events within another one of the same kind the kernel ran no program for.
    pub(crate) fn nested(&self) -> Result<u64, ObserverError> {
        let programs = self.skeleton.object().progs();
        programs
            .map(|program| left_out(program.as_fd()))
            .try_fold(0, |nested, more| Ok(nested + more?))
            .map_err(ObserverError::kernel("asking how often a program was left out"))
    }
}

/// As `struct device` and `struct handed` have them: numbers of namespace and device; packets, and the device's name.
fn handed_of(key: &[u8], value: &[u8]) -> (Place, i64) {
    let (packets, name) = value.split_at(size_of::<i64>());
    let name: Vec<u8> = name.iter().copied().take_while(|&byte| byte != 0).collect();
    let namespace = u32::from_ne_bytes(key[..size_of::<u32>()].try_into().expect("a key has 8 bytes"));
    let packets = i64::from_ne_bytes(packets.try_into().expect("a number has 8 bytes"));
    ((namespace, String::from_utf8_lossy(&name).into_owned()), packets)
}

/// A CPU runs a program only once at a time: an event within another one of the same kind finds it running.
fn left_out(program: BorrowedFd<'_>) -> Result<u64, libbpf_rs::Error> {
    let mut info = bpf_prog_info::default();
    let mut info_bytes = size_of_val(&info) as u32;
    // SAFETY: the descriptor is open, and the kernel writes at most `info_bytes` into `info`, which asks for no arrays.
    match unsafe { bpf_prog_get_info_by_fd(program.as_raw_fd(), &raw mut info, &raw mut info_bytes) } {
        0 => Ok(info.recursion_misses),
        error => Err(libbpf_rs::Error::from_raw_os_error(-error)),
    }
}
