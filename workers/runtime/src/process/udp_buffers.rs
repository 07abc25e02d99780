//! The buffers that the kernel really gave to this process's UDP sockets, for `effective`.
//!
//! What a middleware requests is cut to `rmem_max` and `wmem_max` without an error, so only the kernel can tell. It knows
//! no middleware and changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::RawFd;

/// The sizes in use, each named once; empty for a process without UDP sockets.
pub(crate) fn granted() -> BTreeMap<String, String> {
    let sockets: Vec<RawFd> = descriptors().into_iter().filter(|&socket| is_udp(socket)).collect();
    if sockets.is_empty() {
        return BTreeMap::new();
    }
    [("SO_RCVBUF", libc::SO_RCVBUF), ("SO_SNDBUF", libc::SO_SNDBUF)]
        .map(|(name, which)| {
            let sizes: BTreeSet<i32> = sockets.iter().filter_map(|&socket| option(socket, which)).collect();
            let words: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            (format!("udp sockets' {name}"), words.join(", "))
        })
        .into()
}

fn descriptors() -> Vec<RawFd> {
    std::fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

fn is_udp(descriptor: RawFd) -> bool {
    let internet = matches!(
        option(descriptor, libc::SO_DOMAIN),
        Some(libc::AF_INET | libc::AF_INET6)
    );
    internet && option(descriptor, libc::SO_TYPE) == Some(libc::SOCK_DGRAM)
}

/// An option of a socket; none where the descriptor is not one, or no longer.
fn option(descriptor: RawFd, which: i32) -> Option<i32> {
    let mut value = 0i32;
    let mut size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: `value` and `size` describe one int, which is what each of these options is; a wrong descriptor is an error.
    let status = unsafe {
        libc::getsockopt(
            descriptor,
            libc::SOL_SOCKET,
            which,
            (&raw mut value).cast(),
            &raw mut size,
        )
    };
    (status == 0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_udp_socket_is_stated_with_what_the_kernel_granted() {
        let _socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let buffers = granted();
        assert!(
            buffers["udp sockets' SO_RCVBUF"]
                .split(", ")
                .all(|size| size.parse::<i32>().unwrap() > 0)
        );
    }
}
