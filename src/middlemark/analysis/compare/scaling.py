"""How metrics grow: latency with a message's size, the cost of discovery with the number of endpoints or participants.

Of latency a line through the medians of one block's trials is fitted by Theil and Sen's method (Sen, JASA 63, 1968),
which one outlier can't tilt; the slope is the median over blocks with its interval. Latency need not be linear in size:
how far the line is from the points is reported with it.

Of the cost of discovery a line, and a parabola, are fitted to the values of single trials by least squares (NumPy's
`polyfit`), each weighted by the median at its place, as what is larger varies more. Growth is quadratic, or less than
linear, where the parabola's interval says so; else it is linear where the line's does. Only streams that are sent on
several topics are looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy
from numpy.typing import NDArray

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.estimate import Estimate, median_of_trials, theil_sen
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.stats.quantiles import Measured
from middlemark.analysis.verdicts.values import Block
from middlemark.suite import Observation
from middlemark.suite.metrics import TRIAL, Distribution, Key, quantile_metric, stream_subject
from middlemark.suite.topology.catalog import is_counted

FEWEST_SIZES = 3
"""Through two points every line fits."""
SIZE_FACTOR = "size"
MediansBySize = Mapping[int, Mapping[Block, float]]
"""By size in bytes: each trial's median in ns, by block."""
Floats = NDArray[np.float64]
FEWEST_PLACES = 4
"""Through three medians every parabola fits."""


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
    fitted = (fitted_line(points) for points in groups.values())
    return tuple(
        Scaling(*group, tuple(sorted(points)), *line)
        for (group, points), line in zip(groups.items(), fitted, strict=True)
        if line is not None
    )


def fitted_line(points: MediansBySize) -> tuple[Estimate, Estimate, float] | None:
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


def _blocks(points: MediansBySize) -> list[Block]:
    return sorted({block for values in points.values() for block in values})


def _line(points: MediansBySize, block: Block) -> tuple[float, float, int] | None:
    by_size = {size: values[block] for size, values in points.items() if block in values}
    if len(by_size) < FEWEST_SIZES:
        return None
    slope, base = theil_sen(np.array(list(by_size.values())), np.array(list(by_size), dtype=np.float64))
    return slope, base, len(by_size)


class Over(StrEnum):
    """What grows."""

    ENDPOINTS = "endpoints"
    """With the same participants: publishers and subscribers of all topics."""
    PARTICIPANTS = "participants"
    """With the same endpoints: applications, in a topology of n publishers and n subscribers."""


class Shape(StrEnum):
    """How a value grows."""

    QUADRATIC = "quadratic"
    LINEAR = "linear"
    FLATTENING = "less than linear"
    NONE = "no growth shown"


@dataclass(frozen=True)
class GrowthMetric:
    """A cost that may grow."""

    name: str
    stored_name: str
    observed_by: Observation | None = None
    of_stream: bool = False


GROWTH_METRICS = (
    GrowthMetric("time to first message", "first_message_ns"),
    GrowthMetric("bytes of discovery", "wire_discovery_bytes", Observation.WIRE),
    GrowthMetric("packets of discovery", "wire_discovery_packets", Observation.WIRE),
    GrowthMetric("CPU time of discovery", "discovery_cpu_ns", Observation.RESOURCES),
    GrowthMetric("memory", "peak_memory_bytes"),
    GrowthMetric("time until a late joiner receives all flows", "recovery_ns", of_stream=True),
)


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of a fitted_growth curve, with its interval of 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Fit:
    """How a value grows, by the simplest curve that the trials allow."""

    shape: Shape
    base: float
    """At nothing."""
    slope: Coefficient
    """For each further one; of a parabola, at nothing."""
    curvature: Coefficient | None
    """For each further one squared; None of a line."""

    def at(self, place: float) -> float:
        """The curve's value."""
        return self.base + self.slope.value * place + (self.curvature.value if self.curvature else 0.0) * place**2


@dataclass(frozen=True)
class Growth:
    """One cost of one candidate at several places."""

    factors: tuple[tuple[str, str], ...]
    """What its experiments have in common, the middleware among it."""
    over: Over
    metric: GrowthMetric
    points: Mapping[int, ExperimentFindings]
    """By the number of what grows."""
    fit: Fit | None
    """None with fewer than four places, or where trials have no value."""

    def estimate(self, place: int) -> Estimate | None:
        """The value at a place."""
        candidate = _measured(self.points[place], self.metric)
        return None if candidate is None else candidate.estimates.get(_key(candidate, self.metric))


def growths(findings: Sequence[ExperimentFindings]) -> tuple[Growth, ...]:
    """All that was measured at two places or more: by what grows, then by metric."""
    on_topics = [candidate for candidate in findings if candidate.experiment.streams[0].topics is not None]
    return tuple(
        Growth(factors, over, metric, points, fitted_growth(_values(points, metric)))
        for over in Over
        for factors, points in _groups(on_topics, over).items()
        for metric in GROWTH_METRICS
        if len(points) > 1 and any(_of_blocks(candidate, metric) for candidate in points.values())
    )


def _groups(
    findings: Sequence[ExperimentFindings], over: Over
) -> dict[tuple[tuple[str, str], ...], dict[int, ExperimentFindings]]:
    """The experiments that differ in what grows alone, by its number."""
    groups: dict[tuple[tuple[str, str], ...], dict[int, ExperimentFindings]] = {}
    varied = "topics" if over is Over.ENDPOINTS else "topology"
    for candidate in findings:
        experiment = candidate.experiment
        if over is Over.PARTICIPANTS and not is_counted(experiment.topology):
            continue
        common = tuple((name, value) for name, value in experiment.factors.items() if name != varied)
        if over is Over.PARTICIPANTS:
            common = (*common, ("topology", f"{experiment.topology[0]}n-m"))
        n_endpoints = 2 * (experiment.streams[0].topics or 0)
        place = n_endpoints if over is Over.ENDPOINTS else len(experiment.applications)
        groups.setdefault(common, {})[place] = candidate
    return {common: dict(sorted(points.items())) for common, points in groups.items()}


def _measured(candidate: ExperimentFindings, metric: GrowthMetric) -> ExperimentFindings | None:
    return candidate if metric.observed_by is None else candidate.observed.get(metric.observed_by)


def _key(candidate: ExperimentFindings, metric: GrowthMetric) -> Key:
    subject = stream_subject(candidate.experiment.streams[0].name) if metric.of_stream else TRIAL
    return Key(subject, metric.stored_name)


def _of_blocks(candidate: ExperimentFindings, metric: GrowthMetric) -> list[float]:
    measured = _measured(candidate, metric)
    values = {} if measured is None else measured.by_block.get(_key(measured, metric), {})
    return [value for value in values.values() if math.isfinite(value)]


def _values(points: Mapping[int, ExperimentFindings], metric: GrowthMetric) -> Iterator[tuple[int, list[float]]]:
    return ((place, _of_blocks(candidate, metric)) for place, candidate in points.items())


def fitted_growth(values: Iterator[tuple[int, list[float]]]) -> Fit | None:
    """The curve through the trials' values by place; None where there are too few places, or all values are 0."""
    having = [(place, trials) for place, trials in values if trials]
    medians = {place: float(np.median(trials)) for place, trials in having}
    if len(having) < FEWEST_PLACES or min(medians.values()) <= 0:
        return None
    places = np.array([place for place, trials in having for _ in trials], dtype=np.float64)
    costs = np.array([cost for _, trials in having for cost in trials])
    weights = np.array([1 / medians[place] for place, trials in having for _ in trials])
    base, slope, curvature = _polynomial(places, costs, weights, degree=2)
    if curvature.low > 0 or curvature.high < 0:
        return Fit(Shape.QUADRATIC if curvature.low > 0 else Shape.FLATTENING, base.value, slope, curvature)
    base, slope = _polynomial(places, costs, weights, degree=1)
    return Fit(Shape.LINEAR if slope.low > 0 else Shape.NONE, base.value, slope, None)


def _polynomial(places: Floats, costs: Floats, weights: Floats, degree: int) -> list[Coefficient]:
    """The coefficients from the lowest on; places and costs are scaled to about 1 for the fit."""
    unit, scale = float(places.max()), float(costs.max())
    fitted_values, covariance = np.polyfit(places / unit, costs / scale, degree, w=weights * scale, cov=True)
    freedom = len(costs) - degree - 1
    reach = float(scipy.special.stdtrit(freedom, (1 + CONFIDENCE) / 2)) * np.sqrt(np.diag(covariance))
    sizes = [scale / unit**power for power in range(degree, -1, -1)]
    coefficients = [
        Coefficient(float(value * size), float((value - half) * size), float((value + half) * size))
        for value, half, size in zip(fitted_values, reach, sizes, strict=True)
    ]
    return coefficients[::-1]
