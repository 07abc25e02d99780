"""Links: what joins a host to a network, and what it does to the frames of each direction, always or over time.

`outgoing` is from the host to the network, `incoming` from the network to the host; what stands beside them holds for
both. It states wishes only: `plan` makes values of them, those of Wi-Fi by `plan.wifi`; `testbed` puts them into
effect and measures them.
"""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, SerializerFunctionWrapHandler, StrictBool, model_serializer, model_validator

from middlemark.suite.topology.impairment import DIRECTIONS, EFFECTS, Impairment, Trace
from middlemark.suite.yaml.model import Model, refusal
from middlemark.suite.yaml.quantity import DECIBEL, DECIBEL_MILLIWATT, DISTANCE, SIZE, SPEED

Distance = Annotated[float, DISTANCE.between(0.1, 100_000)]


class PathLoss(StrEnum):
    """How the signal fades with the distance."""

    LOG_DISTANCE = "log_distance"
    RAMP = "ramp"


class Mobility(Model):
    """A host at a distance from its access point, by 802.11n."""

    distance: Distance | None = None
    """Where the host stands all the time; or it moves:"""
    farthest: Distance | None = None
    """How far away it goes."""
    speed: Annotated[float, SPEED.between(0.01, 1000)] | None = None
    """How fast it moves, away and back."""
    rounds: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = None
    """How often it goes away and back; without it, again and again."""
    nearest: Distance = 1.0
    """Where it begins when the window does, and where it turns."""
    path_loss: PathLoss = PathLoss.LOG_DISTANCE
    """`log_distance`: by the distance's logarithm; `ramp`: evenly with the distance, as an attenuator is programmed."""
    exponent: Annotated[float, Field(ge=1, le=8)] = 2.0
    """Of `log_distance`: 2 in free space, more where there are obstacles."""
    ramp: Annotated[float, DECIBEL.between(0, 200)] = 80.0
    """Of `ramp`: what is added on the way from no distance to the farthest."""
    transmit_power: Annotated[float, DECIBEL_MILLIWATT.between(0, 40)] = 20.0
    """Of the host and of the access point, antennas included."""

    @model_validator(mode="after")
    def _stands_or_moves(self) -> Self:
        moves = (self.farthest is not None, self.speed is not None)
        if any(moves) != all(moves) or (self.distance is None) != all(moves):
            raise refusal(
                "a host either stands at a distance or moves",
                allowed="`distance: 5 m`, or `farthest: 400 m` with `speed: 10 m/s`",
            )
        if self.distance is not None and {"rounds", "nearest"} & self.model_fields_set:
            raise refusal("a host that stands has no rounds and no nearest place", allowed="`farthest` and `speed`")
        if self.farthest is not None and self.farthest <= self.nearest:
            raise refusal("the farthest place is not beyond the nearest", allowed=f"more than {self.nearest:g} m")
        return self

    @model_validator(mode="after")
    def _fades_in_one_way(self) -> Self:
        ramps = self.path_loss is PathLoss.RAMP
        other = "exponent" if ramps else "ramp"
        if other in self.model_fields_set:
            raise refusal(
                f"`{self.path_loss}` has no `{other}`", allowed="exponent" if not ramps else "ramp", at=(other,)
            )
        if ramps and self.farthest is None:
            raise refusal("a ramp is as long as the way", allowed="`farthest` and `speed`", at=("path_loss",))
        return self

    @model_serializer(mode="wrap")
    def _only_what_is_set(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        """What was left out is left out again, as some of it may not stand beside the rest."""
        written: dict[str, object] = handler(self)
        return {name: value for name, value in written.items() if name in self.model_fields_set}

    def __str__(self) -> str:
        return "802.11n, " + ", ".join([self._route(), *self._surroundings()])

    def _route(self) -> str:
        if self.farthest is None or self.speed is None:
            return f"{DISTANCE.text(self.distance or 0)} away"
        rounds = "" if self.rounds is None else f" {self.rounds} ×"
        nearest = "" if self.nearest == 1 else f"{DISTANCE.text(self.nearest)} to "
        return f"{nearest}{DISTANCE.text(self.farthest)} and back{rounds} at {SPEED.text(self.speed)}"

    def _surroundings(self) -> list[str]:
        words = [f"ramp {DECIBEL.text(self.ramp)}"] if self.path_loss is PathLoss.RAMP else []
        words += [f"exponent {self.exponent:g}"] if self.exponent != 2 else []
        return words + ([DECIBEL_MILLIWATT.text(self.transmit_power)] if self.transmit_power != 20 else [])


OF_MOBILITY = ("rate", "delay", "jitter", "loss")
"""What a host's distance decides."""


class LinkSettings(Impairment):
    """A link in both directions."""

    mtu: Annotated[int, SIZE.between(576, 65_535)] | None = None
    """The largest packet; without it, 1500 B."""
    offloads: StrictBool | None = None
    """Whether segments larger than a frame may cross the link; without it, only where the link is plain."""
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
            beside = [effect.name for effect in EFFECTS if effect.name not in OF_MOBILITY] + ["mtu", "offloads"]
            raise refusal(f"`mobility` decides on `{name}`", allowed=f"beside it: {', '.join(beside)}", at=(name,))
        return self

    def _fixed(self) -> list[str]:
        """What it sets that a mobility decides on, or that is a trace."""
        directions = [self, *(direction for direction in (self.outgoing, self.incoming) if direction is not None)]
        fixed = [name for name in OF_MOBILITY if any(getattr(direction, name) is not None for direction in directions)]
        return fixed + (["trace"] if self.trace is not None else [])

    def _said(self) -> list[str]:
        mtu = [] if self.mtu is None else [f"MTU {SIZE.text(self.mtu)}"]
        offloads = [] if self.offloads is None else [f"offloads {'on' if self.offloads else 'off'}"]
        directions = [(name, direction) for name in DIRECTIONS if (direction := getattr(self, name)) is not None]
        over_time = [str(source) for source in (self.trace, self.mobility) if source is not None]
        return [
            *over_time,
            *super()._said(),
            *mtu,
            *offloads,
            *(f"{name} ({direction})" for name, direction in directions),
        ]

    @property
    def is_plain(self) -> bool:
        """Whether nothing is requested of it."""
        return not self._said()

    def changed_by(self, change: Self) -> Self:
        """This link with what `change` sets; what that sets for both directions holds in both."""
        base = self._yielding_to(change)
        directions = {"outgoing": (base.outgoing, change.outgoing), "incoming": (base.incoming, change.incoming)}
        kept = {
            name: _direction_after(own, change, differing)
            for name, (own, differing) in directions.items()
            if own is not None
        }
        return super(LinkSettings, base).changed_by(change).model_copy(update=kept)

    def _yielding_to(self, change: Self) -> Self:
        """This link without what can't stand beside the change."""
        if change.mobility is not None:
            gone = dict.fromkeys(OF_MOBILITY)
            directions = {"outgoing": self.outgoing, "incoming": self.incoming}
            left = {
                name: direction.model_copy(update=gone)
                for name, direction in directions.items()
                if direction is not None
            }
            return self.model_copy(update={**gone, **left, "trace": None})
        return self.model_copy(update={"trace": None, "mobility": None}) if change._fixed() else self

    def direction(self, differing: Impairment | None) -> Impairment:
        """One direction: what holds for both, with what differs."""
        both = Impairment.model_construct(**{name: getattr(self, name) for name in Impairment.model_fields})
        return both if differing is None else both.changed_by(differing)


def _direction_after(own: Impairment, both: LinkSettings, differing: Impairment | None) -> Impairment:
    """What differed in one direction before a change and still does after it."""
    kept = {name: getattr(own, name) for name in own.model_fields_set - both.model_fields_set}
    still = Impairment.model_construct(**kept)
    return still if differing is None else still.changed_by(differing)
