"""The kernel's netem between the two interfaces of a link's middle, each of which sends what the other receives.

Pure: `tc -batch` lines for the switch's namespace. Whether the kernel has netem, `ability` finds out.
"""

from __future__ import annotations

from middlemark.plan.network import Direction

# Frames that one direction can hold at once, those that are delayed included: as many as the relay holds.
FRAMES_IN_FLIGHT = 65_536
# Netem keeps the order of frames with different delays only where it serialises them; at this rate that takes no time.
KEEPING_ORDER = "rate 1tbit"


def commands(host_side: str, network_side: str, outgoing: Direction, incoming: Direction) -> list[str]:
    """The lines of both directions; rates are `rate`'s business."""
    return [
        *_crossing(host_side, network_side),
        *_crossing(network_side, host_side),
        *_impairing(network_side, outgoing),
        *_impairing(host_side, incoming),
    ]


def _crossing(receiving: str, sending: str) -> list[str]:
    return [
        f"qdisc add dev {receiving} clsact",
        f"filter add dev {receiving} ingress matchall action mirred egress redirect dev {sending}",
    ]


def is_able(direction: Direction) -> bool:
    """Whether netem can do it.

    It draws loss and duplication for each frame: one that is to be lost and doubled passes once, and a copy may be lost
    as well. With both, neither share would be as asked.
    """
    return not (direction.loss and direction.duplication)


def _impairing(interface: str, direction: Direction) -> list[str]:
    asked = []
    if direction.delay_ns or direction.jitter_ns:
        jitter = f" {_time(direction.jitter_ns)}" if direction.jitter_ns else ""
        asked.append(f"delay {_time(direction.delay_ns)}{jitter}")
    for word, share in (
        ("loss", direction.loss),
        ("duplicate", direction.duplication),
        ("corrupt", direction.corruption),
        ("reorder", direction.reordering if direction.delay_ns else 0),  # a frame can only skip a delay
    ):
        if share:
            asked.append(f"{word} {100 * share:.10g}%")
    if direction.jitter_ns:
        asked.append(KEEPING_ORDER)
    if not asked:
        return []
    return [f"qdisc add dev {interface} root netem limit {FRAMES_IN_FLIGHT} {' '.join(asked)}"]


def _time(value_ns: int) -> str:
    """The smallest unit that netem's times may have in iproute2 6.1 is the microsecond; fractions of it are taken."""
    return f"{value_ns / 1000:.15g}us"
