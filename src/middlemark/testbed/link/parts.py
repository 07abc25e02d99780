"""Which parts put a link into effect: where its rate is limited, and what stands between its host and its network.

Pure; the parts are rendered by `rate`, `netem` and `relay`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from middlemark.plan.network import STANDARD_MTU_BYTES, Direction, Link
from middlemark.suite.quantity import BIT_RATE, DURATION, SHARE, SIZE
from middlemark.testbed.link import netem


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
    able = backend if all(netem.is_able(direction) for direction in directions) else Backend.RELAY
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
