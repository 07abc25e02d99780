"""Links between a host and a network, with their effects on frames in each direction, constant or over time.

`outgoing` is from the host to the network, `incoming` from the network to the host; other keys hold for both. These
models only state what is requested: `plan` resolves them, Wi-Fi by `plan.topology.wifi`; `testbed` puts them into
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
    """How the signal weakens with the distance."""

    LOG_DISTANCE = "log_distance"
    RAMP = "ramp"


class Mobility(Model):
    """Wi-Fi (802.11n) to a host at a distance from its access point."""

    distance: Distance | None = None
    """The distance of a host that does not move; or it moves:"""
    farthest: Distance | None = None
    """The largest distance."""
    speed: Annotated[float, SPEED.between(0.01, 1000)] | None = None
    """The speed, away and back."""
    rounds: Annotated[int, Field(ge=1, le=10_000, strict=True)] | None = None
    """How often it goes away and back; without it, without end."""
    nearest: Distance = 1.0
    """The distance at which it begins with the window, and turns."""
    path_loss: PathLoss = PathLoss.LOG_DISTANCE
    """`log_distance`: with the logarithm of the distance; `ramp`: linearly with the distance, like an attenuator."""
    exponent: Annotated[float, Field(ge=1, le=8)] = 2.0
    """Of `log_distance`: 2 in free space, more where there are obstacles."""
    ramp: Annotated[float, DECIBEL.between(0, 200)] = 80.0
    """Of `ramp`: what is added between distance zero and the farthest."""
    transmit_power: Annotated[float, DECIBEL_MILLIWATT.between(0, 40)] = 20.0
    """Of the host and of the access point, antennas included."""

    @model_validator(mode="after")
    def _stands_or_moves(self) -> Self:
        moves = (self.farthest is not None, self.speed is not None)
        if any(moves) != all(moves) or (self.distance is None) != all(moves):
            raise refusal(
                "a host is either at a fixed distance or moves",
                allowed="`distance: 5 m`, or `farthest: 400 m` with `speed: 10 m/s`",
            )
        if self.distance is not None and {"rounds", "nearest"} & self.model_fields_set:
            raise refusal(
                "a host that does not move has no `rounds` and no `nearest`", allowed="`farthest` and `speed`"
            )
        if self.farthest is not None and self.farthest <= self.nearest:
            raise refusal("`farthest` is not more than `nearest`", allowed=f"more than {self.nearest:g} m")
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
            raise refusal("`ramp` needs a host that moves", allowed="`farthest` and `speed`", at=("path_loss",))
        return self

    @model_serializer(mode="wrap")
    def _only_what_is_set(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Only the given fields, as some defaults may not be combined with others."""
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
"""The properties that mobility decides."""


class LinkSettings(Impairment):
    """A link in both directions."""

    mtu: Annotated[int, SIZE.between(576, 65_535)] | None = None
    """The largest packet; without it, 1500 B."""
    offloads: StrictBool | None = None
    """Whether segments larger than a frame may pass the link; without it, only where the link is plain."""
    outgoing: Impairment | None = None
    """Properties only from the host to the network."""
    incoming: Impairment | None = None
    """Properties only from the network to the host."""
    trace: Trace | None = None
    """What changes over the window: a CSV file, or points."""
    mobility: Mobility | None = None
    """Wi-Fi to a host at a distance, or to one that moves: sets rate, delay, jitter and loss."""

    @model_validator(mode="after")
    def _has_one_source_of_figures(self) -> Self:
        if self.mobility is None:
            return self
        for name in self._fixed():
            beside = [effect.name for effect in EFFECTS if effect.name not in OF_MOBILITY] + ["mtu", "offloads"]
            raise refusal(f"`mobility` sets `{name}` itself", allowed=f"beside it: {', '.join(beside)}", at=(name,))
        return self

    def _fixed(self) -> list[str]:
        """The given properties that mobility decides, or a trace."""
        directions = [self, *(direction for direction in (self.outgoing, self.incoming) if direction is not None)]
        fixed = [name for name in OF_MOBILITY if any(getattr(direction, name) is not None for direction in directions)]
        return fixed + (["trace"] if self.trace is not None else [])

    def _parts(self) -> list[str]:
        mtu = [] if self.mtu is None else [f"MTU {SIZE.text(self.mtu)}"]
        offloads = [] if self.offloads is None else [f"offloads {'on' if self.offloads else 'off'}"]
        directions = [(name, direction) for name in DIRECTIONS if (direction := getattr(self, name)) is not None]
        over_time = [str(source) for source in (self.trace, self.mobility) if source is not None]
        return [
            *over_time,
            *super()._parts(),
            *mtu,
            *offloads,
            *(f"{name} ({direction})" for name, direction in directions),
        ]

    @property
    def is_plain(self) -> bool:
        """Whether nothing is requested of it."""
        return not self._parts()

    def changed_by(self, change: Self) -> Self:
        """This link with the fields of `change`; what `change` sets for both directions holds in both."""
        base = self._yielding_to(change)
        directions = {"outgoing": (base.outgoing, change.outgoing), "incoming": (base.incoming, change.incoming)}
        changed = {
            name: _direction_after(direction, change, differing)
            for name, (direction, differing) in directions.items()
            if direction is not None
        }
        return super(LinkSettings, base).changed_by(change).model_copy(update=changed)

    def _yielding_to(self, change: Self) -> Self:
        """This link without the properties that can't be combined with the change."""
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
        """One direction: the common properties with its own."""
        common = Impairment.model_construct(**{name: getattr(self, name) for name in Impairment.model_fields})
        return common if differing is None else common.changed_by(differing)


def _direction_after(direction: Impairment, change: LinkSettings, differing: Impairment | None) -> Impairment:
    """A direction's own properties that remain after a change."""
    fields = {name: getattr(direction, name) for name in direction.model_fields_set - change.model_fields_set}
    still = Impairment.model_construct(**fields)
    return still if differing is None else still.changed_by(differing)
