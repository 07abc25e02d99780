//! What an interface is: its index, its MTU, and the offloads that are on and should not be.
//!
//! It switches offloads off for `middlemark-relay whole-frames` only: a running relay changes no interface.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::error::RelayError;

/// Offloads that hand over frames which aren't whole: the name `ethtool` knows, the requests that ask and set.
const OFFLOADS: [(&str, u32, u32); 4] = [
    ("tso", 0x1e, 0x1f),
    ("gso", 0x23, 0x24),
    ("gro", 0x2b, 0x2c),
    ("tx", 0x16, 0x17),
];

/// An interface of this network namespace.
pub(crate) struct Interface {
    pub(crate) name: String,
    pub(crate) index: i32,
    pub(crate) mtu_bytes: usize,
    pub(crate) is_up: bool,
    /// The offloads that are on.
    pub(crate) offloads: Vec<&'static str>,
}

/// `struct ethtool_value` of linux/ethtool.h.
#[repr(C)]
struct EthtoolValue {
    request: u32,
    data: u32,
}

impl Interface {
    pub(crate) fn find(name: &str) -> Result<Self, RelayError> {
        let missing = |source| RelayError::Interface {
            name: name.to_owned(),
            source,
        };
        let plain = CString::new(name).map_err(|error| missing(io::Error::from(error)))?;
        // SAFETY: `plain` ends with a zero byte.
        let index = unsafe { libc::if_nametoindex(plain.as_ptr()) };
        if index == 0 {
            return Err(missing(io::Error::last_os_error()));
        }
        let socket = control_socket().map_err(missing)?;
        let mut request = request(name);
        ask(&socket, libc::SIOCGIFMTU, &mut request).map_err(missing)?;
        // SAFETY: SIOCGIFMTU has filled this member of the union.
        let mtu_bytes = unsafe { request.ifr_ifru.ifru_mtu } as usize;
        ask(&socket, libc::SIOCGIFFLAGS, &mut request).map_err(missing)?;
        // SAFETY: SIOCGIFFLAGS has filled this member of the union.
        let flags = i32::from(unsafe { request.ifr_ifru.ifru_flags });
        Ok(Self {
            name: name.to_owned(),
            index: index as i32,
            mtu_bytes,
            is_up: flags & libc::IFF_UP != 0,
            offloads: offloads_on(&socket, name),
        })
    }

    /// Switches off what would hand over frames that aren't whole.
    pub(crate) fn switch_offloads_off(&self) -> Result<(), RelayError> {
        let machine = |offload: &str| {
            let doing = format!("switching `{offload}` off at {}", self.name);
            move |source| RelayError::Machine { doing, source }
        };
        let socket = control_socket().map_err(machine("offloads"))?;
        for (offload, _, set) in OFFLOADS.iter().filter(|(offload, ..)| self.offloads.contains(offload)) {
            ethtool(&socket, &self.name, *set, 0).map_err(machine(offload))?;
        }
        Ok(())
    }

    /// What should be otherwise for the figures to hold.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let name = &self.name;
        if !self.offloads.is_empty() {
            let on = self.offloads.join(", ");
            warnings.push(format!(
                "offloads are on at {name} ({on}), frames may not be whole: `middlemark-relay whole-frames {name}`, \
                 and the same at its peer"
            ));
        }
        if !self.is_up {
            warnings.push(format!("{name} is down: `ip link set {name} up`"));
        }
        warnings
    }
}

fn control_socket() -> io::Result<OwnedFd> {
    // SAFETY: creates a descriptor, which is owned at once when it is one.
    match unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the descriptor is new and has no other owner.
        descriptor => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
    }
}

fn request(name: &str) -> libc::ifreq {
    // SAFETY: all zeros is a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (target, byte) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        *target = byte as libc::c_char;
    }
    request
}

fn ask(socket: &OwnedFd, number: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: `request` is a valid `ifreq` and the requests used here write within it.
    match unsafe { libc::ioctl(socket.as_raw_fd(), number, std::ptr::from_mut(request)) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// An interface that doesn't know an offload has it off.
fn offloads_on(socket: &OwnedFd, name: &str) -> Vec<&'static str> {
    let is_on = |get| ethtool(socket, name, get, 0).is_ok_and(|value| value != 0);
    OFFLOADS
        .into_iter()
        .filter(|(_, get, _)| is_on(*get))
        .map(|(offload, ..)| offload)
        .collect()
}

/// Makes a request that carries one number, and gives the number it leaves.
fn ethtool(socket: &OwnedFd, name: &str, id: u32, data: u32) -> io::Result<u32> {
    let mut value = EthtoolValue { request: id, data };
    let mut request = request(name);
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    ask(socket, libc::SIOCETHTOOL, &mut request)?;
    Ok(value.data)
}
