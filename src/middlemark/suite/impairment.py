"""What a link does to the frames of one direction.

It states wishes only; a link has one for each direction, a trace one for each of its points.
"""

from typing import Annotated

from pydantic import Field

from middlemark.suite.model import Model
from middlemark.suite.quantity import BIT_RATE, DURATION, SHARE, Duration, Share

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
