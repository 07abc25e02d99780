"""The scaling factors of a run in words: one line each. It computes nothing: `analysis.scaling` did."""

from __future__ import annotations

from collections.abc import Sequence

from middlemark.analysis.scaling import SIZE_FACTOR, Scaling
from middlemark.report.display import MICROSECONDS, Unit, digits, interval, plural, size

NANOSECONDS_PER_BYTE = Unit("ns/B", digits)


def scaling_lines(scalings: Sequence[Scaling]) -> list[str]:
    """`zenoh camera: 0.31 ns a byte (0.29–0.33) upon 48 µs, from 1 kB to 1 MB, at most 12 % off the line`."""
    shared = _shared([each.factors for each in scalings])
    return [
        f"{_who(each, shared)}: {_slope(each)} upon {_base(each)}, {plural(len(each.sizes_bytes), 'size')} from "
        f"{size(each.sizes_bytes[0])} to {size(each.sizes_bytes[-1])}, "
        f"at most {digits(100 * each.misfit_share)} % off the line"
        for each in scalings
    ]


def _shared(all_factors: Sequence[tuple[tuple[str, str], ...]]) -> set[tuple[str, str]]:
    return set.intersection(*map(set, all_factors)) if all_factors else set()


def _who(each: Scaling, shared: set[tuple[str, str]]) -> str:
    names = [value for name, value in each.factors if name == "middleware"]
    other = [
        f"{name}={value}"
        for name, value in each.factors
        if name not in {"middleware", "workload", SIZE_FACTOR} and (name, value) not in shared
    ]
    return " ".join([*names, each.stream, *other])


def _slope(each: Scaling) -> str:
    value = each.slope_ns_per_byte.value or 0.0
    span = interval(each.slope_ns_per_byte, NANOSECONDS_PER_BYTE)
    return f"{digits(value)} ns a byte{f' ({span})' if span else ''}"


def _base(each: Scaling) -> str:
    return f"{MICROSECONDS.write(each.base_ns.value or 0.0)} {MICROSECONDS.name}"
