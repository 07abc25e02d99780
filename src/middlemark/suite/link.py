"""Links: what joins a host to a network, and what it does to the frames of each direction.

`outgoing` is from the host to the network, `incoming` from the network to the host; what stands beside them holds for
both. It states wishes only: `plan` makes figures of them, `testbed` puts them into effect and measures them.
"""

from typing import Annotated

from pydantic import Field, StrictBool

from middlemark.suite.model import Model
from middlemark.suite.quantity import BIT_RATE, SIZE, Duration, Share

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

    def direction(self, differing: Impairment | None) -> Impairment:
        """One direction: what holds for both, with what differs."""
        both = Impairment.model_construct(**{name: getattr(self, name) for name in Impairment.model_fields})
        return both if differing is None else both.changed_by(differing)

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.model_dump(mode="json", exclude_unset=True).items())
