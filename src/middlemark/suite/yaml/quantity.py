"""Quantities as people write them (`4 MB`, `200 Hz`, `10 s`, `2 %`), and the values in base units that they become.

A missing unit, a unit of another dimension or a value out of bounds is refused with what is allowed; `MB` is a million
bytes and never a megabit. Factors have their values in the same words: in keys, in tables, in `--only` and `exclude`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

from pydantic_core import CoreSchema, PydanticCustomError, core_schema

if TYPE_CHECKING:
    import pint
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler


_DEFINITIONS = """
nano- = 1e-9 = n-
micro- = 1e-6 = µ- = μ- = u-
milli- = 1e-3 = m-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
kibi- = 1024 = Ki-
mebi- = 1048576 = Mi-
second = [time] = s
minute = 60 * second = min
byte = [size] = B
bit = 0.125 * byte = bit
hertz = 1 / second = Hz
meter = [length] = m
decibel = [level] = dB
decibel_milliwatt = [power_level] = dBm
percent = 0.01 = %
"""
_WRITTEN = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(?P<unit>%|[A-Za-zµμ]+(?:/s)?)?\s*")
_PATTERN = r"^\s*\d+(\.\d+)?([eE][+-]?\d+)?\s*({units})\s*$"


@dataclass(frozen=True)
class Quantity:
    """A dimension with its bounds; as an annotation it reads text into a value in `base` units, or a part of one."""

    noun: str
    base: str
    units: tuple[tuple[str, float], ...]
    """The units that it is written in, smallest first, each with its size in `base`."""
    example: str
    also: tuple[str, ...] = ()
    """Further units that are read."""
    whole: bool = True
    per: int = 1
    """What is read is divided by it: a share in percent becomes a fraction of 1."""
    minimum: float = 0
    maximum: float = float("inf")

    def between(self, minimum: float, maximum: float) -> Quantity:
        """The same dimension within bounds, both included, as values are after reading."""
        return replace(self, minimum=minimum, maximum=maximum)

    def allowed(self) -> str:
        """What may be written, in one line."""
        units = ", ".join(self._readable_units())
        if self.maximum == float("inf"):
            bounds = "" if self.minimum == 0 else f", at least {self.text(self.minimum)}"
        else:
            bounds = f", {self.text(self.minimum)} to {self.text(self.maximum)}"
        return f"a {self.noun}, such as `{self.example}` (units: {units}){bounds}"

    def text(self, value: float) -> str:
        """The value as people write it: in the largest unit that it holds one of and that says it exactly."""
        written = value * self.per
        fitting = ((f"{written / f:.12g}", unit, f) for unit, f in reversed(self.units) if written >= f)
        exact = next((f"{digits} {unit}" for digits, unit, f in fitting if float(digits) * f / self.per == value), None)
        return exact or f"{written:g} {self.units[0][0]}"

    def about(self, value: float) -> str:
        """The value to three digits, in the largest unit that it holds one of: `4.01 ms`."""
        written = value * self.per
        unit, size = next((pair for pair in reversed(self.units) if written >= pair[1]), self.units[0])
        return f"{float(f'{written / size:.3g}'):g} {unit}"

    def parse(self, written: object) -> float:
        """The value in `base` units; refuses what is not this quantity within its bounds."""
        value = self._magnitude(written)
        if not isfinite(value):
            raise self._refusal(f"`{written}` is out of bounds")
        if self.whole:
            if abs(value - round(value)) > 1e-6 * max(1.0, abs(value)):
                raise self._refusal(f"`{written}` is not a whole number of {self.units[0][0]}")
            value = round(value)
        if self.per != 1:
            value /= self.per
        if not self.minimum <= value <= self.maximum:
            raise self._refusal(f"`{written}` is out of bounds")
        return value

    def _magnitude(self, written: object) -> float:
        match = _WRITTEN.fullmatch(written) if isinstance(written, str) else None
        if match is None and (not isinstance(written, int | float) or isinstance(written, bool)):
            raise self._refusal(f"`{written}` is not a {self.noun}")
        if match is None or match["unit"] is None:
            raise self._refusal(f"`{written}` has no unit")
        return self._in_base(float(match["number"]), match["unit"])

    def _in_base(self, number: float, unit: str) -> float:
        import pint  # noqa: PLC0415 - half a second that only a run's start may cost

        try:
            return float(_registry().Quantity(number, unit).to(self.base).magnitude)
        except (pint.UndefinedUnitError, ValueError) as error:  # a number in words, as `nan`, is the latter
            raise self._refusal(f"`{unit}` is not a known unit") from error
        except pint.DimensionalityError as error:
            raise self._refusal(f"`{unit}` is not a unit of a {self.noun}") from error

    def _readable_units(self) -> tuple[str, ...]:
        return (*(unit for unit, _ in self.units), *self.also)

    def _refusal(self, problem: str) -> PydanticCustomError:
        return PydanticCustomError("quantity", "{problem}", {"problem": problem, "allowed": self.allowed()})

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        """Reads text; writes text."""
        return core_schema.no_info_plain_validator_function(
            self.parse, serialization=core_schema.plain_serializer_function_ser_schema(self.text)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Text with one of the units."""
        units = "|".join(self._readable_units())
        return {"type": "string", "pattern": _PATTERN.format(units=units), "examples": [self.example]}


@cache
def _registry() -> pint.UnitRegistry[float]:
    import pint  # noqa: PLC0415 - see above

    registry: pint.UnitRegistry[float] = pint.UnitRegistry(None)
    registry.load_definitions(_DEFINITIONS.strip().splitlines())
    return registry


SIZE = Quantity(
    noun="size",
    base="byte",
    units=(("B", 1), ("kB", 1e3), ("MB", 1e6)),
    also=("KiB", "MiB"),
    example="4 MB",
)
RATE = Quantity(noun="rate", base="hertz", units=(("Hz", 1), ("kHz", 1e3), ("MHz", 1e6)), example="200 Hz", whole=False)
DURATION = Quantity(
    noun="duration",
    base="nanosecond",
    units=(("ns", 1), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)),
    also=("min", "us"),
    example="10 s",
)
BIT_RATE = Quantity(
    noun="bit rate",
    base="bit / second",
    units=(("bit/s", 1), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)),
    example="1 Gbit/s",
)
DISTANCE = Quantity(noun="distance", base="meter", units=(("m", 1), ("km", 1e3)), example="400 m", whole=False)
SPEED = Quantity(noun="speed", base="meter / second", units=(("m/s", 1),), example="10 m/s", whole=False)
DECIBEL = Quantity(noun="ratio", base="decibel", units=(("dB", 1),), example="80 dB", whole=False)
DECIBEL_MILLIWATT = Quantity(noun="power", base="decibel_milliwatt", units=(("dBm", 1),), example="20 dBm", whole=False)
SHARE = Quantity(noun="share", base="percent", units=(("%", 1),), example="2 %", whole=False, per=100, maximum=1)

SMALLEST_MESSAGE_BYTES = 32
LARGEST_MESSAGE_BYTES = 64_000_000

MessageSize = Annotated[int, SIZE.between(SMALLEST_MESSAGE_BYTES, LARGEST_MESSAGE_BYTES)]
Rate = Annotated[float, RATE.between(0.01, 1e7)]
Duration = Annotated[int, DURATION.between(0, 604_800e9)]
TimeSpan = Annotated[int, DURATION.between(1e6, 604_800e9)]
"""A duration in which something has to happen: at least 1 ms."""
Share = Annotated[float, SHARE]


_QUANTITIES: dict[str, Quantity] = {
    "size": SIZE,
    "rate": RATE,
    "answer": SIZE,
    "interval": DURATION,
    "patience": DURATION,
    "response": SIZE,
    "timeout": DURATION,
    "publish_patience": DURATION,
    "queue": SIZE,
    "spin": DURATION,
    "cpu_load": SHARE,
}


GROWING = tuple(_QUANTITIES)
"""Factors whose values are quantities, so that one is more than another."""


def plural(count: int, noun: str) -> str:
    """`1 trial`, `3 trials`, `3 searches`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}{'es' if noun.endswith('ch') else 's'}"


def first_few(texts: Iterable[str], most: int, noun: str, separator: str = "; ") -> str:
    """The first of many texts, and how many others there are: `a; b and 3 other paths`."""
    listed = tuple(texts)
    more = len(listed) - most
    others = f" and {plural(more, f'other {noun}')}" if more > 0 else ""
    return separator.join(listed[:most]) + others


def percent(share: float) -> float:
    """A share in percent, as it was written."""
    return float(f"{100 * share:.12g}")


def magnitude(factor: str, written: str) -> float | None:
    """A quantity's value in base units; None where the value is none."""
    try:
        return _QUANTITIES[factor].parse(written) if factor in _QUANTITIES else None
    except PydanticCustomError:
        return None


def factor_text(factor: str, value: object) -> str:
    """A factor's value in its one spelling."""
    if factor in _QUANTITIES and isinstance(value, int | float):
        return _QUANTITIES[factor].text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def respelled(factor: str, written: str) -> str:
    """What a person wrote, in its one spelling: `4000kB` is `4 MB`; as it stands where it is no quantity."""
    try:
        return _QUANTITIES[factor].text(_QUANTITIES[factor].parse(written)) if factor in _QUANTITIES else written
    except PydanticCustomError:
        return written
