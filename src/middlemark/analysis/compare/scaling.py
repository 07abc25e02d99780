"""The scaling factor: by how much latency grows with each byte of a message, of experiments that differ in size alone.

A line through the medians of one block's trials is fitted by Theil and Sen's method (Sen, JASA 63, 1968), which one
outlier can't tilt; the slope is the median over blocks with its interval. Latency need not be linear in size: how far
the line is from the points is reported with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.estimate import Estimate, median_of_trials, theil_sen
from middlemark.analysis.stats.quantiles import Measured
from middlemark.analysis.verdicts.values import Block
from middlemark.suite.metrics import Distribution, Key, quantile_metric, stream_subject

FEWEST_SIZES = 3
"""Through two points every line fits."""
SIZE_FACTOR = "size"
Points = Mapping[int, Mapping[Block, float]]
"""By size in bytes: each trial's median in ns, by block."""


@dataclass(frozen=True)
class Scaling:
    """How one stream's latency grows with its size."""

    factors: tuple[tuple[str, str], ...]
    """What its experiments have in common, the middleware among it."""
    stream: str
    metric: str
    sizes_bytes: tuple[int, ...]
    slope_ns_per_byte: Estimate
    """Over blocks: its number of trials is that of lines."""
    base_ns: Estimate
    """Where the line meets a message of no byte."""
    misfit_share: float
    """The largest distance of a size's median from the line, as a share of that median."""


def scalings(findings: Sequence[ExperimentFindings]) -> tuple[Scaling, ...]:
    """The scaling factor of every stream that was measured with three sizes or more."""
    groups: dict[tuple[tuple[tuple[str, str], ...], str, str], dict[int, Mapping[Block, float]]] = {}
    for candidate in findings:
        common = tuple((name, value) for name, value in candidate.experiment.factors.items() if name != SIZE_FACTOR)
        for stream in candidate.experiment.streams:
            kind = Distribution.ROUND_TRIP if stream.pattern.has_answers else Distribution.LATENCY_FROM_SEND
            metric = quantile_metric(kind, "p50")
            values = candidate.by_block.get(Key(stream_subject(stream.name), metric), {})
            is_measured = values and math.inf not in values.values()
            if is_measured and stream.pattern.kind != "unthrottled":
                groups.setdefault((common, stream.name, metric), {})[stream.size_bytes] = values
    fitted = (fit(points) for points in groups.values())
    return tuple(
        Scaling(*group, tuple(sorted(points)), *line)
        for (group, points), line in zip(groups.items(), fitted, strict=True)
        if line is not None
    )


def fit(points: Points) -> tuple[Estimate, Estimate, float] | None:
    """Slope and base over blocks, and the misfit; None where no block has sizes enough."""
    lines = [line for block in _blocks(points) if (line := _line(points, block)) is not None]
    if not lines:
        return None
    slope = median_of_trials([Measured(slope, n) for slope, _, n in lines])
    base = median_of_trials([Measured(base, n) for _, base, n in lines])
    medians = {size: float(np.median(list(values.values()))) for size, values in points.items()}
    misfit = max(
        abs((slope.value or 0.0) * size + (base.value or 0.0) - median) / median for size, median in medians.items()
    )
    return slope, base, misfit


def _blocks(points: Points) -> list[Block]:
    return sorted({block for values in points.values() for block in values})


def _line(points: Points, block: Block) -> tuple[float, float, int] | None:
    by_size = {size: values[block] for size, values in points.items() if block in values}
    if len(by_size) < FEWEST_SIZES:
        return None
    slope, base = theil_sen(np.array(list(by_size.values())), np.array(list(by_size), dtype=np.float64))
    return slope, base, len(by_size)
