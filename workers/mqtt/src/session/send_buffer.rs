//! Room in the kernel for what is published and the broker has not yet taken.
//!
//! It is most of what can wait before a publish call does: the client's own queue holds a few messages. What the kernel
//! is told is `client`'s, over rumqttc's options; for the broker's queue see `configuration`.

use std::fs;

use middlemark_runtime::Channel;

/// As the kernel sizes a TCP connection's send buffer by itself: at first, at the beginning, at most.
const KERNELS_SIZES: &str = "/proc/sys/net/ipv4/tcp_wmem";

/// What the option asks for, 0 for the kernel's own sizing, but no more than any stream lets be queued; none leaves it to
/// the kernel.
pub(crate) fn bytes<'a>(asked_bytes: u64, channels: impl Iterator<Item = &'a Channel>) -> Option<u32> {
    let queued_bytes = channels.map(|channel| channel.queued_bytes() as u64).min();
    lowered(asked_bytes, queued_bytes.unwrap_or(u64::MAX), kernels_most_bytes())
}

/// A size that is set ends the kernel's own sizing: it stays where that keeps within the queue.
fn lowered(asked_bytes: u64, queued_bytes: u64, kernels_most_bytes: u64) -> Option<u32> {
    if asked_bytes == 0 && kernels_most_bytes <= queued_bytes {
        return None;
    }
    let most_bytes = if asked_bytes == 0 { u64::MAX } else { asked_bytes };
    Some(most_bytes.min(queued_bytes).min(i32::MAX as u64) as u32)
}

/// Where the kernel doesn't tell, everything may be queued.
fn kernels_most_bytes() -> u64 {
    let sizes = fs::read_to_string(KERNELS_SIZES).unwrap_or_default();
    sizes
        .split_whitespace()
        .nth(2)
        .and_then(|most| most.parse().ok())
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_sizes_the_buffer_where_its_most_is_within_the_queue() {
        assert_eq!(lowered(0, 16 << 20, 4 << 20), None);
    }

    #[test]
    fn a_shorter_queue_bounds_the_buffer_that_is_asked_for_and_the_kernels_own() {
        let of_queue = |asked_bytes| lowered(asked_bytes, 64_000, 4 << 20);
        assert_eq!(
            [of_queue(0), of_queue(1 << 20), of_queue(8_000)],
            [Some(64_000), Some(64_000), Some(8_000)]
        );
    }
}
