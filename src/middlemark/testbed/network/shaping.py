"""What puts a link into effect: the kernel's token bucket filter and netem, or the relay where netem can't do it.

It renders the lines of `tc -batch` for the interfaces that `wiring` makes, and starts the relay. Whether the kernel has
netem, `capabilities` finds out; what the relay does to frames, `observers/relay` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from middlemark.errors import EnvironmentNotReady
from middlemark.plan.topology.network import STANDARD_MTU_BYTES, Link
from middlemark.suite import Direction, Model
from middlemark.suite.topology.impairment import EFFECTS, SHARES, Probed
from middlemark.suite.yaml.quantity import BIT_RATE, SIZE
from middlemark.testbed.processes.child import NativeProcess, executable
from middlemark.testbed.processes.ledger import Ledger

# What a frame has on the wire besides the 14 bytes of header that the kernel counts: preamble and start 8, check
# sequence 4, gap 12; and the least that any frame takes, 64 + 20 (IEEE 802.3, 4.4.2).
OVERHEAD_BYTES, LEAST_BYTES, HEADER_BYTES = 24, 84, 14
# The bucket holds what the rate brings in this time: a timer that fires later costs rate, a larger bucket lets more
# frames through back to back after a pause.
BUCKET_NS = 250_000
QUEUE_FRAMES = 1000
# Frames that one direction can hold at once, those that are delayed included: as many as the relay holds.
FRAMES_IN_FLIGHT = 65_536
# Netem keeps the order of frames with different delays only where it serialises them; at this rate that takes no time.
KEEPING_ORDER = "rate 1tbit"


class Backend(StrEnum):
    """What delays, loses, doubles, reorders and damages frames."""

    NETEM = "netem"
    RELAY = "relay"


@dataclass(frozen=True)
class LinkParts:
    """The parts of one link."""

    rate: bool
    """Whether token bucket filters limit its rate, each direction's at its sending end."""
    middle: Backend | None
    """What stands between the host's interfaces and the switch's; nothing where only the rate is limited."""


def link_parts(link: Link, backend: Backend) -> LinkParts:
    """What this link needs; a trace is always the relay's, as it changes everything, and so is what netem can't do."""
    if link.trace:
        return LinkParts(rate=False, middle=Backend.RELAY)
    directions = (link.outgoing, link.incoming)
    middle = backend if all(_is_for_netem(direction) for direction in directions) else Backend.RELAY
    return LinkParts(
        rate=any(direction.rate_bits_per_s is not None for direction in directions),
        middle=middle if any(_is_more_than_rate(direction) for direction in directions) else None,
    )


def _is_more_than_rate(direction: Direction) -> bool:
    return not direction.model_copy(update={"rate_bits_per_s": None, "queue_frames": None}).is_plain


def link_words(link: Link, parts: LinkParts) -> str:
    """The link and its parts as a record states them."""
    if link.is_plain:
        return "plain"
    common = [
        part
        for part in (
            f"MTU {SIZE.text(link.mtu_bytes)}" if link.mtu_bytes != STANDARD_MTU_BYTES else "",
            "" if link.offloads else "offloads off",
            f"{parts.middle}: trace of {len(link.trace)} points" if link.trace else "",
        )
        if part
    ]
    if link.trace:
        return "; ".join(common)
    outgoing, incoming = _direction_words(link.outgoing, parts), _direction_words(link.incoming, parts)
    if outgoing == incoming:
        return "; ".join([*outgoing, *common])
    directions = [
        f"{name} {', '.join(words) or 'plain'}" for name, words in (("outgoing", outgoing), ("incoming", incoming))
    ]
    return "; ".join([*directions, *common])


def _direction_words(direction: Direction, parts: LinkParts) -> list[str]:
    words = []
    if direction.rate_bits_per_s is not None:
        queue = "" if direction.queue_frames is None else f", queue {direction.queue_frames} frames"
        words.append(f"tbf {BIT_RATE.text(direction.rate_bits_per_s)}{queue}")
    impairments = [
        f"{effect.name} {effect.text(value)}"
        for effect in EFFECTS
        if effect.probed is not Probed.RATE and (value := getattr(direction, effect.field))
    ]
    if impairments:
        words.append(f"{parts.middle}: {', '.join(impairments)}")
    return words


def rate_commands(interface: str, direction: Direction, mtu_bytes: int) -> list[str]:
    """The lines that limit the rate of the interface's sending direction; none where no rate is requested."""
    rate = direction.rate_bits_per_s
    if rate is None:
        return []
    burst = bucket_bytes(rate, mtu_bytes)
    # The filter needs a limit for its own queue, which the queue below replaces.
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


def netem_commands(host_end: str, network_end: str, outgoing: Direction, incoming: Direction) -> list[str]:
    """The lines of both directions, but for rates, in the switch's namespace: an end sends what the other receives."""
    return [
        *_crossing(host_end, network_end),
        *_crossing(network_end, host_end),
        *_impairing(network_end, outgoing),
        *_impairing(host_end, incoming),
    ]


def _crossing(receiving: str, sending: str) -> list[str]:
    return [
        f"qdisc add dev {receiving} clsact",
        f"filter add dev {receiving} ingress matchall action mirred egress redirect dev {sending}",
    ]


def _is_for_netem(direction: Direction) -> bool:
    """Whether netem can do it.

    It draws loss and duplication for each frame: one that is to be lost and doubled passes once, and a copy may be lost
    as well. With both, neither share would be as requested.
    """
    impairments = [effect for effect in EFFECTS if effect.probed is not Probed.RATE]
    beyond_it = any(getattr(direction, effect.field) for effect in impairments if not effect.netem)
    return not (beyond_it or (direction.loss and direction.duplication))


def _impairing(interface: str, direction: Direction) -> list[str]:
    requested = []
    if direction.delay_ns or direction.jitter_ns:
        jitter = f" {_time(direction.jitter_ns)}" if direction.jitter_ns else ""
        requested.append(f"delay {_time(direction.delay_ns)}{jitter}")
    for effect in SHARES:
        share = getattr(direction, effect.field)
        skips_nothing = effect.probed is Probed.OVERTAKING and not direction.delay_ns  # a frame can only skip a delay
        if share and not skips_nothing:
            requested.append(f"{effect.netem} {100 * share:.10g}%")
    if direction.jitter_ns:
        requested.append(KEEPING_ORDER)
    if not requested:
        return []
    return [f"qdisc add dev {interface} root netem limit {FRAMES_IN_FLIGHT} {' '.join(requested)}"]


def _time(value_ns: int) -> str:
    """The smallest unit that netem's times may have in iproute2 6.1 is the microsecond; fractions of it are taken."""
    return f"{value_ns / 1000:.15g}us"


class Lateness(Model):
    """By how much the frames of one direction left the relay later than they were due."""

    n: int
    p50_ns: int
    p99_ns: int
    p999_ns: int
    max_ns: int


class RelayReport(Model):
    """The part of a relay's report that is used."""

    outgoing: Lateness
    incoming: Lateness


class Relay:
    """A running relay; `end` must follow."""

    def __init__(self, name: str, prefix: list[str], spec: Mapping[str, Any], ledger: Ledger) -> None:
        """Starts it with the prefix of the switch's namespace; it transmits frames when `ready` has returned."""
        self._observer = NativeProcess(f"relays {name}", [*prefix, str(executable("relay"))], ledger)
        self._observer.tell(spec)

    def ready(self) -> tuple[str, ...]:
        """Waits until frames are transmitted; what it warns of."""
        with self._observer.understood():
            return tuple(str(item) for item in self._observer.hear("ready")["warnings"])

    @property
    def pid(self) -> int:
        """Its process."""
        return self._observer.pid

    def begin(self, at_ns: int) -> None:
        """Has its trace begin at this instant."""
        self._observer.tell({"command": "begin", "at_ns": at_ns})
        self._observer.hear("applied")

    def report(self) -> RelayReport:
        """What it did so far."""
        self._observer.tell({"command": "report"})
        with self._observer.understood():
            event = self._observer.hear("report")
            return RelayReport.model_validate({name: event[name]["lateness"] for name in RelayReport.model_fields})

    def end(self) -> None:
        """Ends it: the link is cut."""
        self._observer.end()


def relay_spec(link: Link, parts: LinkParts, host_end: str, network_end: str, seed: int) -> dict[str, Any]:
    """What the relay is told of a link; a rate only where no token bucket limits it."""
    directions = {"outgoing": link.outgoing, "incoming": link.incoming}
    spec: dict[str, Any] = {"host_side": host_end, "network_side": network_end, "seed": seed}
    spec |= {name: _impairment(direction, parts) for name, direction in directions.items()}
    spec["trace"] = [
        {
            "at_ns": point.at_ns,
            "outgoing": _impairment(point.outgoing, parts),
            "incoming": _impairment(point.incoming, parts),
        }
        for point in link.trace
    ]
    return spec


def _impairment(direction: Direction, parts: LinkParts) -> dict[str, Any]:
    """Only what is requested, so that a relay of another version refuses only what it can't do."""
    spec = direction.model_dump(exclude_defaults=True)
    rate, queue = spec.pop("rate_bits_per_s", None), spec.pop("queue_frames", None)
    if parts.rate or rate is None:
        return spec
    return {**spec, "rate_bits_per_s": rate, "queue_frames": queue or QUEUE_FRAMES}


def relay_missing() -> str | None:
    """Why there is no relay here; None where there is."""
    try:
        executable("relay")
    except EnvironmentNotReady as error:
        return str(error)
    return None
