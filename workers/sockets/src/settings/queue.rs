//! How much may wait for one slow receiver: the buffers at both ends of a connection, bounded as its stream's QoS requests.
//!
//! The kernel counts a buffer in bytes of memory, its bookkeeping included, so that less payload fits into it than that. What
//! sizes the options name is its parent's.

use std::io;

use middlemark_contract::{ApplicationSpec, Refusal};
use middlemark_runtime::Channel;
use socket2::{SockAddr, Socket};

use crate::family::{Buffered, Family, open};

/// Makes a socket's buffers no larger than a queue of so many bytes; leaves them as they are where they are that already.
/// Returns how large they may become, which is more where the kernel has no smaller ones.
///
/// # Errors
/// What the kernel refused, or can't read back.
pub(crate) fn bound(family: &dyn Family, socket: &Socket, queue_bytes: u64) -> io::Result<Buffered> {
    let most = family.most_buffered(socket)?;
    if most.whole() <= queue_bytes {
        return Ok(most);
    }
    let share = queue_bytes / if most.to_receive.is_some() { 2 } else { 1 };
    let is_beyond = |bytes: usize| bytes as u64 > share;
    // The kernel doubles what is requested, for its bookkeeping.
    let requested = (share / 2) as usize;
    let to_send = if is_beyond(most.to_send) {
        socket.set_send_buffer_size(requested)?;
        socket.send_buffer_size()?
    } else {
        most.to_send
    };
    let to_receive = match most.to_receive {
        Some(bytes) if is_beyond(bytes) => {
            socket.set_recv_buffer_size(requested)?;
            Some(socket.recv_buffer_size()?)
        }
        bytes => bytes,
    };
    Ok(Buffered { to_send, to_receive })
}

/// A configured socket of a family, neither bound nor connected, with buffers no larger than a queue.
pub(crate) fn open_bounded(family: &dyn Family, like: &SockAddr, queue_bytes: u64) -> io::Result<Socket> {
    let socket = open(family, like)?;
    bound(family, &socket, queue_bytes)?;
    Ok(socket)
}

/// The bytes that may wait on a channel, or on a connection of two channels.
pub(crate) fn queued_bytes(channels: &[&Channel]) -> u64 {
    let queues = channels.iter().map(|channel| channel.queued_bytes() as u64);
    queues.max().unwrap_or(u64::MAX)
}

/// What is in force for a queue of so many bytes, in words.
pub(crate) fn words(family: &dyn Family, like: &SockAddr, queue_bytes: u64) -> io::Result<String> {
    let buffered = bound(family, &open(family, like)?, queue_bytes)?;
    Ok(format!(
        "at most {buffered}, of {queue_bytes} B requested, as the kernel counts them: twice what it is asked for, with its \
         bookkeeping"
    ))
}

/// Refuses a queue that is smaller than the kernel's smallest buffers, by trying.
///
/// # Errors
/// The refusal, with how small they are.
pub fn accept_queues(family: &dyn Family, spec: &ApplicationSpec, like: &SockAddr) -> Result<(), Refusal> {
    for stream in &spec.streams {
        let queue_bytes = stream.qos.queued_bytes(stream.size_bytes);
        // Without a socket there is nothing to judge; the start then tells why there is none.
        let Ok(buffered) = open(family, like).and_then(|socket| bound(family, &socket, queue_bytes)) else {
            continue;
        };
        if buffered.whole() > queue_bytes {
            return Err(Refusal {
                capability: "queue".into(),
                reason: format!(
                    "{queue_bytes} B of '{}' are less than the kernel's smallest buffers: {buffered}",
                    stream.name
                ),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::{Ipv4Addr, SocketAddr};

    use super::*;
    use crate::{Buffers, Kind};

    struct Datagrams;

    impl Family for Datagrams {
        fn transport(&self) -> String {
            "udp".into()
        }

        fn kind(&self) -> Kind {
            Kind::Datagram
        }

        fn address(&self, _: &Channel, _: usize) -> io::Result<SockAddr> {
            Ok(here())
        }

        fn configure(&self, _: &Socket) -> io::Result<()> {
            Ok(())
        }

        fn granted(&self, _: &Socket) -> io::Result<BTreeMap<String, String>> {
            Ok(BTreeMap::new())
        }

        fn most_buffered(&self, socket: &Socket) -> io::Result<Buffered> {
            Buffers::default().most(socket)
        }
    }

    fn here() -> SockAddr {
        SockAddr::from(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }

    fn bounded(queue_bytes: u64) -> (Buffered, Buffered) {
        let socket = open(&Datagrams, &here()).unwrap();
        let told = bound(&Datagrams, &socket, queue_bytes).unwrap();
        (told, Buffers::default().most(&socket).unwrap())
    }

    #[test]
    fn buffers_are_made_so_small_that_both_fit_into_the_queue() {
        let (told, real) = bounded(64 << 10);
        assert_eq!(told, real);
        assert_eq!((real.to_send, real.to_receive), (32 << 10, Some(32 << 10)));
    }

    #[test]
    fn a_queue_with_room_for_the_kernels_own_buffers_leaves_them_as_they_are() {
        let socket = open(&Datagrams, &here()).unwrap();
        let own = Buffers::default().most(&socket).unwrap();
        assert_eq!(bounded(own.whole()), (own, own));
    }

    #[test]
    fn where_the_sender_alone_counts_its_buffer_gets_all_of_the_queue() {
        struct OneSided;
        impl Family for OneSided {
            fn transport(&self) -> String {
                Datagrams.transport()
            }
            fn kind(&self) -> Kind {
                Datagrams.kind()
            }
            fn address(&self, channel: &Channel, subscriber: usize) -> io::Result<SockAddr> {
                Datagrams.address(channel, subscriber)
            }
            fn configure(&self, socket: &Socket) -> io::Result<()> {
                Datagrams.configure(socket)
            }
            fn granted(&self, socket: &Socket) -> io::Result<BTreeMap<String, String>> {
                Datagrams.granted(socket)
            }
            fn most_buffered(&self, socket: &Socket) -> io::Result<Buffered> {
                Ok(Buffered {
                    to_receive: None,
                    ..Datagrams.most_buffered(socket)?
                })
            }
        }
        let socket = open(&OneSided, &here()).unwrap();
        let told = bound(&OneSided, &socket, 64 << 10).unwrap();
        assert_eq!((told.to_send, told.to_receive), (64 << 10, None));
    }

    #[test]
    fn less_than_the_kernels_smallest_buffers_is_told() {
        let (told, _) = bounded(128);
        assert!(told.whole() > 128, "{told}");
        assert!(told.to_string().ends_with("B to receive"), "{told}");
    }
}
