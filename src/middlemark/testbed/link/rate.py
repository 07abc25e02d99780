"""A constant rate and its queue: the kernel's token bucket filter over a queue that is counted in frames.

Pure: `tc -batch` lines for one interface, whose sending direction they limit.
"""

from __future__ import annotations

from middlemark.plan.network import Direction

# What a frame has on the wire besides the 14 bytes of header that the kernel counts: preamble and start 8, check
# sequence 4, gap 12; and the least that any frame takes, 64 + 20 (IEEE 802.3, 4.4.2).
OVERHEAD_BYTES, LEAST_BYTES, HEADER_BYTES = 24, 84, 14
# The bucket holds what the rate brings in this time: a timer that fires later costs rate, a larger bucket lets more
# frames through back to back after a pause.
BUCKET_NS = 250_000
QUEUE_FRAMES = 1000


def commands(interface: str, direction: Direction, mtu_bytes: int) -> list[str]:
    """The lines; none where no rate is asked."""
    rate = direction.rate_bits_per_s
    if rate is None:
        return []
    burst = bucket_bytes(rate, mtu_bytes)
    # The filter asks for a limit of its own queue, which the one below takes the place of.
    bucket = f"tbf rate {rate}bit burst {burst} limit {burst} overhead {OVERHEAD_BYTES} mpu {LEAST_BYTES}"
    queue = f"pfifo limit {direction.queue_frames or QUEUE_FRAMES}"
    return [
        f"qdisc add dev {interface} root handle 1: {bucket}",
        f"qdisc add dev {interface} parent 1:1 handle 2: {queue}",
    ]


def bucket_bytes(rate_bits_per_s: int, mtu_bytes: int) -> int:
    """What the rate brings in `BUCKET_NS`, and at least two of the largest frames: a smaller bucket passes none."""
    frame = mtu_bytes + HEADER_BYTES + OVERHEAD_BYTES
    return max(rate_bits_per_s * BUCKET_NS // 8_000_000_000, 2 * frame)
