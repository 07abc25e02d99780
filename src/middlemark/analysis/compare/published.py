"""A paper's values beside ours: absolute, as ratios between middlewares, as ranks, and their rank correlation.

Machines differ, so that absolute values need not agree; what a paper says of middlewares is their order. Within a
group, where values differ in the factors of their series alone, ratios and orders are compared. Over all cells it is
Spearman's coefficient with the interval of Bonett and Wright (Psychometrika 65, 2000).
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import scipy

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.estimate import Estimate
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.plan import is_selected
from middlemark.suite.metrics import Metric
from middlemark.suite.papers import PublishedValue

FEWEST_CELLS = 5
"""Below, the interval of a coefficient says nothing."""
NOT_INSTALLED = "not applicable: not installed"


@dataclass(frozen=True)
class Pair:
    """A published value and ours of the same cell."""

    published: PublishedValue
    experiment: ExperimentFindings | None
    """None where the run has no such experiment."""
    ours: Estimate | None
    reason: str
    """Why there is no value of ours."""
    series: tuple[str, ...] = ("middleware",)
    """The factors that tell its series from the others of its group."""

    @property
    def series_label(self) -> str:
        """Its series in words: `fastdds`, `mqtt reliable level 1`."""
        factors = dict(self.published.selection.factors)
        of_series = {name: factors[name] for name in self.series if name in factors}
        return " ".join(f"{name} {value}" if value.isdigit() else value for name, value in of_series.items())

    @property
    def metric(self) -> Metric:
        """What is compared."""
        return self.published.metric

    @property
    def group(self) -> tuple[tuple[str, str], ...]:
        """Every other factor, and the metric."""
        others = ((name, value) for name, value in self.published.selection.factors if name not in self.series)
        return (*others, ("metric", self.metric.name))

    @property
    def values(self) -> tuple[float, float] | None:
        """The published value and ours, where there are both."""
        value = None if self.ours is None else self.ours.value
        if value is None or not math.isfinite(value) or self.published.value is None:
            return None
        return self.published.value, value


@dataclass(frozen=True)
class Ratio:
    """The ratio of two series' values in one group, published and ours."""

    group: tuple[tuple[str, str], ...]
    first: Pair
    second: Pair
    published: float
    ours: float

    @property
    def agrees(self) -> bool:
        """Whether both put the same one first."""
        return (self.published < 1) == (self.ours < 1)


@dataclass(frozen=True)
class Correlation:
    """Spearman's coefficient over all cells of a metric that have both values."""

    metric: Metric
    n_cells: int
    value: float | None
    """None of too few cells, or of cells that are all alike."""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class PaperComparison:
    """One table of a paper beside ours."""

    pairs: tuple[Pair, ...]
    ratios: tuple[Ratio, ...]
    correlations: tuple[Correlation, ...]
    """One a metric."""

    @property
    def n_agreeing(self) -> int:
        """In how many pairs of middlewares the order is the same."""
        return sum(ratio.agrees for ratio in self.ratios)


def compare_values(
    values: Iterable[PublishedValue],
    experiments: Sequence[ExperimentFindings],
    series: tuple[str, ...] = ("middleware",),
    not_installed: Container[str] = (),
) -> PaperComparison:
    """Sets every published value against the experiment that it selects, of middlewares that are installed."""
    pairs = tuple(replace(_pair(value, experiments, not_installed), series=series) for value in values)
    metrics = {pair.metric.name: pair.metric for pair in pairs}
    correlations = tuple(rank_correlation(metric, _known(pairs, name)) for name, metric in metrics.items())
    return PaperComparison(pairs, tuple(_ratios(pairs)), correlations)


def _known(pairs: Iterable[Pair], metric: str) -> list[tuple[float, float]]:
    return [pair.values for pair in pairs if pair.metric.name == metric and pair.values is not None]


def _pair(value: PublishedValue, experiments: Sequence[ExperimentFindings], not_installed: Container[str]) -> Pair:
    selected = [candidate for candidate in experiments if is_selected(candidate.experiment, value.selection)]
    if not selected:
        is_absent = dict(value.selection.factors).get("middleware", "") in not_installed
        return Pair(value, None, None, NOT_INSTALLED if is_absent else "not measured in this extent")
    if len(selected) > 1:
        return Pair(value, None, None, "of several experiments")
    measured = selected[0]
    names = [
        flow.name for flow in (measured.experiment.chains if value.metric.of_chain else measured.experiment.streams)
    ]
    keys = [value.metric.key(name) for name in names]
    estimate = next((measured.estimates[key] for key in keys if key in measured.estimates), None)
    if estimate is not None and estimate.value is not None:
        return Pair(value, measured, estimate, "")
    return Pair(value, measured, None, measured.why_missing(keys[0]))


def _ratios(pairs: Sequence[Pair]) -> Iterable[Ratio]:
    groups: dict[tuple[tuple[str, str], ...], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.group, []).append(pair)
    for group, members in groups.items():
        for first, second in combinations(members, 2):
            first_values, second_values = first.values, second.values
            if first_values and second_values and second_values[0] > 0 and second_values[1] > 0:
                yield Ratio(
                    group, first, second, first_values[0] / second_values[0], first_values[1] / second_values[1]
                )


def rank_correlation(metric: Metric, cells: Sequence[tuple[float, float]]) -> Correlation:
    """Spearman's coefficient of published values and ours."""
    n = len(cells)
    if n < FEWEST_CELLS or any(len(set(values)) < 2 for values in zip(*cells, strict=True)):
        return Correlation(metric, n, None)
    value = float(scipy.stats.spearmanr(*zip(*cells, strict=True)).statistic)
    if abs(value) >= 1:
        return Correlation(metric, n, value)
    reach = scipy.stats.norm.ppf((1 + CONFIDENCE) / 2) * math.sqrt((1 + value**2 / 2) / (n - 3))
    middle = math.atanh(value)
    return Correlation(metric, n, value, math.tanh(middle - reach), math.tanh(middle + reach))


def by_group(pairs: Sequence[Pair]) -> Mapping[tuple[tuple[str, str], ...], Mapping[str, Pair]]:
    """The cells of each group, by series."""
    groups: dict[tuple[tuple[str, str], ...], dict[str, Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.group, {})[pair.series_label] = pair
    return groups
