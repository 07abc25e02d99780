"""Factors: what tells one experiment from another, and how their values are written.

The same words stand in keys, in tables, on the command line (`--only`) and in `exclude`.
"""

from pydantic_core import PydanticCustomError

from middlemark.suite.quantity import DURATION, RATE, SHARE, SIZE, Quantity

_QUANTITIES: dict[str, Quantity] = {
    "size": SIZE,
    "rate": RATE,
    "answer": SIZE,
    "interval": DURATION,
    "patience": DURATION,
    "spin": DURATION,
    "cpu_load": SHARE,
}


GROWING = tuple(_QUANTITIES)
"""Factors whose values are quantities, so that one is more than another."""


def magnitude(factor: str, written: str) -> float | None:
    """A quantity's figure in base units; None where the value is none."""
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
