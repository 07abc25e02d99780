"""Links: what joins a host to a network, and what it does to the frames of each direction.

`outgoing` is from the host to the network, `incoming` from the network to the host; what stands beside them holds for
both. It states wishes only: `plan` makes figures of them, `testbed` puts them into effect and measures them.
"""

from typing import Annotated, Self

from pydantic import Field, StrictBool

from middlemark.suite.model import Model
from middlemark.suite.quantity import BIT_RATE, DURATION, SHARE, SIZE, Duration, Share

BitRate = Annotated[int, BIT_RATE.between(1e3, 1e12)]


class Impairment(Model):
    """What a link does to the frames of one direction; what is left out is not done."""

    rate: BitRate | None = None
    """Bits a second on the wire, preamble and gap included."""
    queue: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = None
    """Frames that wait for the wire before further ones are dropped."""
    delay: Duration | None = None
    """How much later every frame arrives."""
    jitter: Duration | None = None
    """The most that a frame's delay is above or below that, evenly distributed; it changes no order."""
    loss: Share | None = None
    """Frames that vanish."""
    duplication: Share | None = None
    """Frames that arrive twice."""
    reordering: Share | None = None
    """Frames that skip the delay and so overtake others."""
    corruption: Share | None = None
    """Frames in which one bit is turned."""

    def __str__(self) -> str:
        return ", ".join(self._said()) or "plain"

    def _said(self) -> list[str]:
        """What is asked of it, in the order of the fields."""
        rate = [] if self.rate is None else [BIT_RATE.text(self.rate)]
        queue = [] if self.queue is None else [f"queue {self.queue} frames"]
        delay = [] if self.delay is None else [DURATION.text(self.delay)]
        jitter = [] if self.jitter is None else [f"± {DURATION.text(self.jitter)}"]
        # `10 ms ± 1 ms` is one figure.
        times = [" ".join(delay + jitter)] if delay or jitter else []
        shares = [(name, getattr(self, name)) for name in ("loss", "duplication", "reordering", "corruption")]
        return rate + queue + times + [f"{name} {SHARE.text(share)}" for name, share in shares if share is not None]


class LinkSettings(Impairment):
    """A link in both directions."""

    mtu: Annotated[int, SIZE.between(576, 65_535)] | None = None
    """The largest packet; without it, 1500 B."""
    offloads: StrictBool | None = None
    """Whether segments larger than a frame may cross the link; without it, only where nothing is asked of the link."""
    outgoing: Impairment | None = None
    """What differs from the host to the network."""
    incoming: Impairment | None = None
    """What differs from the network to the host."""

    def changed_by(self, change: Self) -> Self:
        """This link with what `change` sets; what that sets for both directions holds in both."""
        ways = {"outgoing": (self.outgoing, change.outgoing), "incoming": (self.incoming, change.incoming)}
        kept = {name: _way(own, change, differing) for name, (own, differing) in ways.items() if own is not None}
        return super().changed_by(change).model_copy(update=kept)

    def direction(self, differing: Impairment | None) -> Impairment:
        """One direction: what holds for both, with what differs."""
        both = Impairment.model_construct(**{name: getattr(self, name) for name in Impairment.model_fields})
        return both if differing is None else both.changed_by(differing)

    def _said(self) -> list[str]:
        mtu = [] if self.mtu is None else [f"MTU {SIZE.text(self.mtu)}"]
        offloads = [] if self.offloads is None else [f"offloads {'on' if self.offloads else 'off'}"]
        ways = [(name, way) for name, way in (("out", self.outgoing), ("in", self.incoming)) if way is not None]
        return [*super()._said(), *mtu, *offloads, *(f"{name} ({way})" for name, way in ways)]

    @property
    def is_plain(self) -> bool:
        """Whether nothing is asked of it."""
        return not self._said()


def _way(own: Impairment, both: LinkSettings, differing: Impairment | None) -> Impairment:
    """What differed in one direction before a change and still does after it."""
    kept = {name: getattr(own, name) for name in own.model_fields_set - both.model_fields_set}
    still = Impairment.model_construct(**kept)
    return still if differing is None else still.changed_by(differing)
