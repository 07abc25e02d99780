"""What a link does to the frames of one direction, constant or over time: every effect, as suites and plans have it.

An effect is a field of `Impairment` and one of `Direction`; everything else in Python reads `EFFECTS`, and the relay
does what it says. `link` has one impairment for each direction; a trace has one for each of its points, which may come
from a CSV file with units in the column names.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import Field, TypeAdapter, ValidationError, ValidationInfo, model_validator

from middlemark.errors import SuiteError
from middlemark.suite.yaml.model import (
    Count,
    Model,
    Named,
    Nanoseconds,
    SuiteFiles,
    closest_first,
    explain,
    refusal,
)
from middlemark.suite.yaml.model import Share as Fraction
from middlemark.suite.yaml.quantity import BIT_RATE, DURATION, SHARE, Duration, Quantity, Share, percent

BitRate = Annotated[int, BIT_RATE.between(1e3, 1e12)]
QueueFrames = Annotated[int, Field(ge=1, le=1_000_000, strict=True)]


class Probed(StrEnum):
    """How a probe measures an impairment, by which it is judged."""

    RATE = "rate"
    """By full frames at more than the rate."""
    ROUND_TRIP = "round_trip"
    """By pings."""
    LOST = "lost"
    DUPLICATES = "duplicates"
    OVERTAKING = "overtaking"
    """By a train of numbered datagrams."""


@dataclass(frozen=True)
class Effect:
    """One effect of a link, declared at its field of `Impairment`."""

    field: str
    """Its field of `Direction`, with its unit: its name in plans, records and the relay's spec."""
    quantity: Quantity | None
    """Its quantity; None for a number of frames."""
    probed: Probed
    netem: str = ""
    """Netem's argument; without one, the relay makes it, and a rate is the token bucket's."""
    name: str = ""
    """Its name in suites, columns of traces, texts and charts: that of the field."""

    @property
    def is_share(self) -> bool:
        """Whether it affects a share of the frames."""
        return self.quantity is SHARE

    def text(self, value: float) -> str:
        """A value as people write it."""
        return f"{value:.0f} frames" if self.quantity is None else self.quantity.text(value)


class Impairment(Model):
    """The effects on the frames of one direction; an omitted one has no effect."""

    rate: Annotated[BitRate | None, Effect("rate_bits_per_s", BIT_RATE, Probed.RATE)] = None
    """Bits per second on the wire, including preamble and gap."""
    queue: Annotated[QueueFrames | None, Effect("queue_frames", None, Probed.RATE)] = None
    """Frames that may wait before further ones are dropped."""
    delay: Annotated[Duration | None, Effect("delay_ns", DURATION, Probed.ROUND_TRIP, netem="delay")] = None
    """How much later every frame arrives."""
    jitter: Annotated[Duration | None, Effect("jitter_ns", DURATION, Probed.ROUND_TRIP, netem="delay")] = None
    """The largest deviation from the delay, evenly distributed; it does not change the order of frames."""
    loss: Annotated[Share | None, Effect("loss", SHARE, Probed.LOST, netem="loss")] = None
    """The share of frames that are lost."""
    duplication: Annotated[Share | None, Effect("duplication", SHARE, Probed.DUPLICATES, netem="duplicate")] = None
    """The share of frames that arrive twice."""
    reordering: Annotated[Share | None, Effect("reordering", SHARE, Probed.OVERTAKING, netem="reorder")] = None
    """The share of frames that skip the delay and so overtake others."""
    corruption: Annotated[Share | None, Effect("corruption", SHARE, Probed.LOST, netem="corrupt")] = None
    """The share of frames in which one bit is flipped."""

    def __str__(self) -> str:
        return ", ".join(self._parts()) or "plain"

    def _parts(self) -> list[str]:
        """What is requested of it, in the order of the fields."""
        rate = [] if self.rate is None else [BIT_RATE.text(self.rate)]
        queue = [] if self.queue is None else [f"queue {self.queue} frames"]
        delay = [] if self.delay is None else [DURATION.text(self.delay)]
        jitter = [] if self.jitter is None else [f"± {DURATION.text(self.jitter)}"]
        # `10 ms ± 1 ms` is one value.
        times = [" ".join(delay + jitter)] if delay or jitter else []
        others = [(effect, getattr(self, effect.name)) for effect in TOLD_BY_NAME]
        return [
            *(rate + queue + times),
            *(f"{effect.name} {effect.text(value)}" for effect, value in others if value is not None),
        ]

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Shares in percent and no effect of later that is not requested.

        The name of a trace has a digest of this, and so the id of every stored experiment with one.
        """
        shares, later = {effect.name for effect in SHARES}, {effect.name for effect in EFFECTS[_FIRST:]}
        for name, value in super().__repr_args__():
            if value is not None or name not in later:
                yield name, percent(value) if name in shares and value is not None else value


class Direction(Model):
    """An impairment with nothing left open: what a plan has a link do to the frames of one direction."""

    rate_bits_per_s: Count | None = None
    queue_frames: Count | None = None
    delay_ns: Nanoseconds = 0
    jitter_ns: Nanoseconds = 0
    loss: Fraction = 0.0
    duplication: Fraction = 0.0
    reordering: Fraction = 0.0
    corruption: Fraction = 0.0

    @property
    def is_plain(self) -> bool:
        """Whether nothing is requested of it."""
        return self == Direction()


EFFECTS: Final = tuple(
    replace(effect, name=name)
    for name, field in Impairment.model_fields.items()
    for effect in field.metadata
    if isinstance(effect, Effect)
)
"""All effects, in the order in which they are shown."""
_FIRST: Final = 8
"""How many effects there were when the first runs were stored."""
SHARES: Final = tuple(effect for effect in EFFECTS if effect.is_share)
TOLD_BY_NAME: Final = tuple(effect for effect in EFFECTS if effect.name not in {"rate", "queue", "delay", "jitter"})
"""Those that texts tell by name and value, as they tell no effect that has words of its own."""


_MOST_POINTS = 20_000
_TIMES = {"us": "us", "ms": "ms", "s": "s"}
_SUFFIXES: dict[Quantity | None, dict[str, str]] = {
    BIT_RATE: {"bit_s": "bit/s", "kbit_s": "kbit/s", "mbit_s": "Mbit/s", "gbit_s": "Gbit/s"},
    DURATION: _TIMES,
    SHARE: {"percent": "%"},
    None: {"frames": ""},
}
"""The possible ends of a trace's column names, with the unit."""
DIRECTIONS: Final = ("outgoing", "incoming")


Column = tuple[tuple[str, ...], str]
"""The field that a column sets, and the unit of its values."""


class Step(Impairment):
    """The effects from an instant of the window on; an omitted one stays as the link has it."""

    at: Duration
    """From the window's start."""
    outgoing: Impairment | None = None
    """Effects only from the host to the network."""
    incoming: Impairment | None = None
    """Effects only from the network to the host."""


class Trace(Named):
    """The effects of a link over time; the first point also holds before its instant, the last one to the end."""

    name_key: ClassVar[str] = "file"

    file: str | None = None
    """A CSV file, relative to the suite's folder; or, without one:"""
    points: tuple[Step, ...] = ()
    """The points themselves."""

    @model_validator(mode="after")
    def _has_points(self, info: ValidationInfo) -> Self:
        if (self.file is None) == (not self.points):
            raise refusal("a trace is either a file or a list of points", allowed="`trace: walk.csv`, or `points: […]`")
        suite_files = (info.context or {}).get("suite_files")
        if self.file is None:
            self._check_order()
            return self
        return self if suite_files is None else self.model_copy(update={"points": _read(self.file, suite_files)})

    def _check_order(self) -> None:
        for number, (earlier, later) in enumerate(pairwise(self.points), start=1):
            if later.at <= earlier.at:
                raise refusal(
                    "a point is not later than the one before it", allowed="growing `at`", at=("points", number)
                )

    def __str__(self) -> str:
        digest = hashlib.sha256(repr(self.points).encode()).hexdigest()[:8]
        return f"trace {self.file or f'of {len(self.points)} points'} {digest}"


def _read(file: str, suite_files: SuiteFiles) -> tuple[Step, ...]:
    """The points of a CSV file, one per line from the second line on."""
    import polars as pl  # noqa: PLC0415 - only a suite with a trace pays for loading it

    path = suite_files.path(file)
    try:
        table = pl.read_csv(suite_files.read(file), infer_schema=False).fill_null("")
    except pl.exceptions.PolarsError as error:
        message = str(error).splitlines()[0]
        raise SuiteError(f"this is no CSV: {message}", file=path, allowed="a line of columns, then values") from error
    columns = [_column(name, path) for name in table.columns]
    if not any(place == ("at",) for place, _ in columns):
        raise SuiteError("there is no column `at_…`", file=path, line=1, allowed="at_s, at_ms, at_us")
    if not 0 < table.height <= _MOST_POINTS:
        raise SuiteError(f"{table.height} points", file=path, allowed=f"1 to {_MOST_POINTS}")
    return tuple(_steps(table.rows(), columns, path))


def _known_columns() -> dict[str, Column]:
    """All possible columns."""
    columns: dict[str, Column] = {f"at_{suffix}": (("at",), unit) for suffix, unit in _TIMES.items()}
    for effect in EFFECTS:
        for suffix, unit in _SUFFIXES[effect.quantity].items():
            column = f"{effect.name}_{suffix}"
            columns[column] = ((effect.name,), unit)
            columns |= {f"{direction}_{column}": ((direction, effect.name), unit) for direction in DIRECTIONS}
    return columns


def _column(name: str, path: str) -> Column:
    columns = _known_columns()
    if name.strip() not in columns:
        direction, _, effect = name.strip().partition("_")
        plain = [text for text in columns if not text.startswith(DIRECTIONS)]
        wanted = closest_first(effect if direction in DIRECTIONS else name, plain)
        allowed = f"{wanted}; each also after `outgoing_` and `incoming_`"
        raise SuiteError(f"unknown column `{name}`", file=path, line=1, allowed=allowed)
    return columns[name.strip()]


def _steps(rows: list[tuple[str, ...]], columns: list[Column], path: str) -> Iterator[Step]:
    adapter = TypeAdapter(Step)
    before = -1
    for line, row in enumerate(rows, start=2):
        try:
            step = adapter.validate_python(_written(row, columns))
        except ValidationError as error:
            problem, _, allowed = explain(error.errors()[0])
            raise SuiteError(problem, file=path, line=line, offending=",".join(row), allowed=allowed) from error
        if step.at <= before:
            problem = "a point is not later than the one before it"
            raise SuiteError(problem, file=path, line=line, offending=",".join(row), allowed="growing instants")
        before = step.at
        yield step


def _written(row: tuple[str, ...], columns: list[Column]) -> dict[str, object]:
    """A line of the file as a suite would have it; an empty cell sets nothing."""
    step: dict[str, object] = {}
    for (place, unit), cell in zip(columns, row, strict=True):
        if not cell.strip():
            continue
        part = step
        for name in place[:-1]:
            nested = part.setdefault(name, {})
            part = nested if isinstance(nested, dict) else {}
        part[place[-1]] = f"{cell.strip()} {unit}" if unit else _whole(cell.strip())
    return step


def _whole(cell: str) -> object:
    return int(cell) if cell.isdigit() else cell
