"""A constant rate and its queue: the kernel's token bucket filter over a queue that is counted in frames.

Pure: `tc -batch` lines for one interface, whose sending direction they limit.

The kernel's netem between the two interfaces of a link's middle, each of which sends what the other receives.

Pure: `tc -batch` lines for the switch's namespace. Whether the kernel has netem, `ability` finds out.

Which parts put a link into effect: where its rate is limited, and what stands between its host and its network.

Pure; the parts are rendered by `rate`, `netem` and `relay`.

The relay between the two interfaces of a link's middle, where the kernel has no netem or the link follows a trace.

It renders the relay's spec, runs it, and reads its account; what it does to frames, `observers/relay` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from middlemark.errors import EnvironmentNotReady
from middlemark.plan.network import STANDARD_MTU_BYTES, Direction, Link
from middlemark.suite import Model
from middlemark.suite.yaml.quantity import BIT_RATE, DURATION, SHARE, SIZE
from middlemark.testbed.processes.child import Observer, executable
from middlemark.testbed.processes.ledger import Ledger

# What a frame has on the wire besides the 14 bytes of header that the kernel counts: preamble and start 8, check
# sequence 4, gap 12; and the least that any frame takes, 64 + 20 (IEEE 802.3, 4.4.2).
OVERHEAD_BYTES, LEAST_BYTES, HEADER_BYTES = 24, 84, 14
# The bucket holds what the rate brings in this time: a timer that fires later costs rate, a larger bucket lets more
# frames through back to back after a pause.
BUCKET_NS = 250_000
QUEUE_FRAMES = 1000


def rate_commands(interface: str, direction: Direction, mtu_bytes: int) -> list[str]:
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


# Frames that one direction can hold at once, those that are delayed included: as many as the relay holds.
FRAMES_IN_FLIGHT = 65_536
# Netem keeps the order of frames with different delays only where it serialises them; at this rate that takes no time.
KEEPING_ORDER = "rate 1tbit"


def netem_commands(host_side: str, network_side: str, outgoing: Direction, incoming: Direction) -> list[str]:
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


def netem_is_able(direction: Direction) -> bool:
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


class Backend(StrEnum):
    """What delays, loses, doubles, reorders and damages frames."""

    NETEM = "netem"
    RELAY = "relay"


@dataclass(frozen=True)
class Parts:
    """The parts of one link."""

    rate: bool
    """Whether token bucket filters limit its rate, each direction's at its sending end."""
    middle: Backend | None
    """What stands between the host's interfaces and the switch's; nothing where only the rate is limited."""


def parts(link: Link, backend: Backend) -> Parts:
    """What this link needs; a trace is always the relay's, as it changes everything at its instants.

    So is what netem can't do.
    """
    if link.trace:
        return Parts(rate=False, middle=Backend.RELAY)
    directions = (link.outgoing, link.incoming)
    able = backend if all(netem_is_able(direction) for direction in directions) else Backend.RELAY
    return Parts(
        rate=any(direction.rate_bits_per_s is not None for direction in directions),
        middle=able if any(_is_more_than_rate(direction) for direction in directions) else None,
    )


def _is_more_than_rate(direction: Direction) -> bool:
    return not direction.model_copy(update={"rate_bits_per_s": None, "queue_frames": None}).is_plain


def words(link: Link, made_of: Parts) -> str:
    """The link and its parts as a record states them."""
    if link.is_plain:
        return "plain"
    both = [
        part
        for part in (
            f"MTU {SIZE.text(link.mtu_bytes)}" if link.mtu_bytes != STANDARD_MTU_BYTES else "",
            "" if link.offloads else "offloads off",
            f"{made_of.middle}: trace of {len(link.trace)} points" if link.trace else "",
        )
        if part
    ]
    if link.trace:
        return "; ".join(both)
    outgoing, incoming = _direction_words(link.outgoing, made_of), _direction_words(link.incoming, made_of)
    if outgoing == incoming:
        return "; ".join([*outgoing, *both])
    each = [f"{name} {', '.join(said) or 'plain'}" for name, said in (("outgoing", outgoing), ("incoming", incoming))]
    return "; ".join([*each, *both])


def _direction_words(direction: Direction, made_of: Parts) -> list[str]:
    said = []
    if direction.rate_bits_per_s is not None:
        queue = "" if direction.queue_frames is None else f", queue {direction.queue_frames} frames"
        said.append(f"tbf {BIT_RATE.text(direction.rate_bits_per_s)}{queue}")
    done = [
        f"{name} {DURATION.text(value)}"
        for name, value in (("delay", direction.delay_ns), ("jitter", direction.jitter_ns))
        if value
    ]
    done += [
        f"{name} {SHARE.text(round(100 * getattr(direction, name), 9))}"
        for name in ("loss", "duplication", "reordering", "corruption")
        if getattr(direction, name)
    ]
    if done:
        said.append(f"{made_of.middle}: {', '.join(done)}")
    return said


class Lateness(Model):
    """By how much frames left the relay later than they were due."""

    n: int
    p50_ns: int
    p99_ns: int
    p999_ns: int
    max_ns: int


class Account(Model):
    """What became of the frames of one direction."""

    frames_in: int
    bytes_in: int
    frames_out: int
    bytes_out: int
    dropped_by_loss: int
    dropped_by_queue: int
    dropped_by_memory: int
    dropped_too_long: int
    refused_by_interface: int
    duplicated: int
    reordered: int
    corrupted: int
    unfinished_checksums: int
    in_flight: int
    dropped_by_kernel: int
    lateness: Lateness


class Report(Model):
    """A relay's account of both directions."""

    at_ns: int
    outgoing: Account
    incoming: Account


class Relay:
    """A running relay; `end` must follow."""

    def __init__(self, name: str, prefix: list[str], spec: Mapping[str, Any], ledger: Ledger) -> None:
        """Starts it with the prefix of the switch's namespace; it carries frames when `ready` has returned."""
        self._observer = Observer(f"relays {name}", [*prefix, str(executable("relay"))], ledger)
        self._observer.tell(spec)

    def ready(self) -> tuple[str, ...]:
        """Waits until frames are carried; what it warns of."""
        return tuple(self._observer.hear("ready")["warnings"])

    @property
    def pid(self) -> int:
        """Its process."""
        return self._observer.pid

    def begin(self, at_ns: int) -> None:
        """Has its trace begin at this instant."""
        self._observer.tell({"command": "begin", "at_ns": at_ns})
        self._observer.hear("applied")

    def report(self) -> Report:
        """Its account so far."""
        self._observer.tell({"command": "report"})
        said = self._observer.hear("report")
        return Report.model_validate({name: said[name] for name in Report.model_fields})

    def end(self) -> None:
        """Ends it: the link is cut."""
        self._observer.end()


def relay_spec(link: Link, made_of: Parts, host_side: str, network_side: str, seed: int) -> dict[str, Any]:
    """What the relay is told of a link; a rate only where no token bucket limits it."""
    directions = {"outgoing": link.outgoing, "incoming": link.incoming}
    told: dict[str, Any] = {"host_side": host_side, "network_side": network_side, "seed": seed}
    told |= {name: _impairment(direction, made_of) for name, direction in directions.items()}
    told["trace"] = [
        {
            "at_ns": point.at_ns,
            "outgoing": _impairment(point.outgoing, made_of),
            "incoming": _impairment(point.incoming, made_of),
        }
        for point in link.trace
    ]
    return told


def _impairment(direction: Direction, made_of: Parts) -> dict[str, Any]:
    told = direction.model_dump()
    rate, queue = told.pop("rate_bits_per_s"), told.pop("queue_frames")
    return (
        told
        if made_of.rate or rate is None
        else {**told, "rate_bits_per_s": rate, "queue_frames": queue or QUEUE_FRAMES}
    )


def relay_missing() -> str | None:
    """Why there is no relay here; None where there is."""
    try:
        executable("relay")
    except EnvironmentNotReady as error:
        return str(error)
    return None
