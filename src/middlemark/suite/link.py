"""Links: what joins a host to a network, and what it does to the frames of each direction, always or over time.

`outgoing` is from the host to the network, `incoming` from the network to the host; what stands beside them holds for
both. It states wishes only: `plan` makes figures of them, `testbed` puts them into effect and measures them.
"""

from typing import Annotated, Self

from pydantic import StrictBool, model_validator

from middlemark.suite.impairment import Impairment
from middlemark.suite.mobility import Mobility
from middlemark.suite.model import refusal
from middlemark.suite.quantity import SIZE
from middlemark.suite.trace import Trace

OF_MOBILITY = ("rate", "delay", "jitter", "loss")
"""What a host's distance decides."""


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
    trace: Trace | None = None
    """What changes over the window: a CSV file, or points."""
    mobility: Mobility | None = None
    """Wi-Fi to a host at a distance, or to one that moves: decides on rate, delay, jitter and loss."""

    @model_validator(mode="after")
    def _has_one_source_of_figures(self) -> Self:
        if self.mobility is None:
            return self
        for name in self._fixed():
            allowed = "queue, duplication, reordering, corruption, mtu, offloads"
            raise refusal(f"`mobility` decides on `{name}`", allowed=f"beside it: {allowed}", at=(name,))
        return self

    def _fixed(self) -> list[str]:
        """What it sets that a mobility decides on, or that is a trace."""
        ways = [self, *(way for way in (self.outgoing, self.incoming) if way is not None)]
        figures = [name for name in OF_MOBILITY if any(getattr(way, name) is not None for way in ways)]
        return figures + (["trace"] if self.trace is not None else [])

    def _said(self) -> list[str]:
        mtu = [] if self.mtu is None else [f"MTU {SIZE.text(self.mtu)}"]
        offloads = [] if self.offloads is None else [f"offloads {'on' if self.offloads else 'off'}"]
        ways = [(name, way) for name in ("outgoing", "incoming") if (way := getattr(self, name)) is not None]
        over_time = [str(source) for source in (self.trace, self.mobility) if source is not None]
        return [*over_time, *super()._said(), *mtu, *offloads, *(f"{name} ({way})" for name, way in ways)]

    @property
    def is_plain(self) -> bool:
        """Whether nothing is asked of it."""
        return not self._said()

    def changed_by(self, change: Self) -> Self:
        """This link with what `change` sets; what that sets for both directions holds in both."""
        base = self._yielding_to(change)
        ways = {"outgoing": (base.outgoing, change.outgoing), "incoming": (base.incoming, change.incoming)}
        kept = {name: _way(own, change, differing) for name, (own, differing) in ways.items() if own is not None}
        return super(LinkSettings, base).changed_by(change).model_copy(update=kept)

    def _yielding_to(self, change: Self) -> Self:
        """This link without what can't stand beside the change."""
        if change.mobility is not None:
            gone = dict.fromkeys(OF_MOBILITY)
            ways = {"outgoing": self.outgoing, "incoming": self.incoming}
            left = {name: way.model_copy(update=gone) for name, way in ways.items() if way is not None}
            return self.model_copy(update={**gone, **left, "trace": None})
        return self.model_copy(update={"trace": None, "mobility": None}) if change._fixed() else self

    def direction(self, differing: Impairment | None) -> Impairment:
        """One direction: what holds for both, with what differs."""
        both = Impairment.model_construct(**{name: getattr(self, name) for name in Impairment.model_fields})
        return both if differing is None else both.changed_by(differing)


def _way(own: Impairment, both: LinkSettings, differing: Impairment | None) -> Impairment:
    """What differed in one direction before a change and still does after it."""
    kept = {name: getattr(own, name) for name in own.model_fields_set - both.model_fields_set}
    still = Impairment.model_construct(**kept)
    return still if differing is None else still.changed_by(differing)
