"""What is known of one experiment: estimates, distributions, accounting, outcomes, configuration.

Only valid trials enter estimates; every other is kept with its outcome. `aggregate` puts it together, `compare` sets it
against that of others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from middlemark.analysis.experiment.conditions import delivery_told
from middlemark.analysis.experiment.variance import NoVarianceComponents, VarianceComponents
from middlemark.analysis.kernel.breakdown import ExampleMessage
from middlemark.analysis.metrics.resources import MemorySeries
from middlemark.analysis.metrics.timeseries import Settling, TimeSeries
from middlemark.analysis.metrics.trial import PATH_DISTRIBUTIONS, TrialMetrics
from middlemark.analysis.stats.estimate import Estimate
from middlemark.analysis.stats.quantiles import Lost, Measured, Sketch
from middlemark.analysis.stats.shapes import Box, Curve
from middlemark.analysis.verdicts.bounds import Evidence
from middlemark.analysis.verdicts.judge import Setbacks, count_setbacks
from middlemark.analysis.verdicts.values import Block, BlockValues, Machines, ShareCounts, counts_by_machine, with_bound
from middlemark.plan import Caution, Experiment, SearchStep
from middlemark.plan.schedule import is_search
from middlemark.results.counts import PathProof
from middlemark.results.record import Effective, ServiceConfiguration, TrialRecord
from middlemark.suite import Observation
from middlemark.suite.metrics import (
    Distribution,
    Key,
    Metric,
    distribution_subject,
    metrics_of_distribution,
    quantile_metric,
)

_OF_THE_PATH = {metric for kind in PATH_DISTRIBUTIONS for metric in metrics_of_distribution(kind)}
_LARGEST_OF_THE_PATH = {quantile_metric(kind, "max") for kind in PATH_DISTRIBUTIONS if kind is not Distribution.JITTER}


@dataclass(frozen=True)
class TrialOutcome:
    """How one trial ended."""

    trial: str
    block: Block
    attempt: int
    kind: str
    detail: str
    reason: str = ""
    """Of an invalid one, the kind of its first reason."""
    step: SearchStep | None = None
    """Of a trial of a capacity search."""
    machine: str = ""
    """The test-bed of a fleet that measured it."""


def machines_of_searches(outcomes: Iterable[TrialOutcome]) -> dict[Block, str]:
    """By search, the test-bed of a fleet that measured it; all of them where there were several."""
    names: dict[Block, set[str]] = {}
    for outcome in outcomes:
        if outcome.machine and outcome.step and outcome.step.search:
            names.setdefault(outcome.step.search, set()).add(outcome.machine)
    return {number: " + ".join(sorted(of_search)) for number, of_search in names.items()}


@dataclass(frozen=True)
class Totals:
    """The accounting of a stream, summed over valid trials, publishers and subscribers."""

    intended: int = 0
    sent: int = 0
    refused: int = 0
    received: int = 0
    late: int = 0
    lost: int = 0
    duplicates: int = 0
    reordered: int = 0
    corrupt: int = 0
    foreign: int = 0
    negative: int = 0
    beyond_samples: int = 0


@dataclass(frozen=True)
class MeasuredTrial:
    """A valid trial with its metrics."""

    record: TrialRecord
    metrics: TrialMetrics
    time_series: Mapping[str, TimeSeries] = field(default_factory=dict)
    """By stream."""
    memory: tuple[MemorySeries, ...] = ()
    """Of trials whose resources were sampled."""
    example_messages: Mapping[str, tuple[ExampleMessage, ...]] = field(default_factory=dict)
    """By stream; of trials whose kernel path was observed."""
    settling: Mapping[str, Settling] = field(default_factory=dict)
    """By stream; of all other trials."""

    @property
    def distributions(self) -> Mapping[tuple[str, Distribution], Sketch]:
        """By stream or chain: all samples, or a sketch of them."""
        return self.metrics.samples

    def median(self, name: str, kind: Distribution) -> float | None:
        """Of a stream or chain; None of few messages, and where clocks of different machines can't measure it.

        Infinite where most messages never arrived.
        """
        value = self.metrics.values.get(Key(distribution_subject(name, kind), quantile_metric(kind, "p50")))
        if isinstance(value, Lost):
            return math.inf
        return value.value if isinstance(value, Measured) else None


@dataclass(frozen=True)
class Shapes:
    """The distributions of all valid trials' messages, as they are drawn; by stream or chain."""

    curves: Mapping[tuple[str, Distribution], Curve] = field(default_factory=dict)
    boxes: Mapping[tuple[str, Distribution], Box] = field(default_factory=dict)


@dataclass(frozen=True)
class Accounting:
    """What became of the messages."""

    totals: Mapping[tuple[str, bool], Totals] = field(default_factory=dict)
    """By stream and whether they are answers."""
    overloaded: Mapping[str, int] = field(default_factory=dict)
    """By stream: in how many valid trials its publishers could not keep their rate."""


@dataclass(frozen=True)
class Configuration:
    """How the middleware ran, by application and service, as its workers and the kernel saw it in a valid trial."""

    effective: Mapping[str, Effective] = field(default_factory=dict)
    services: Mapping[str, ServiceConfiguration] = field(default_factory=dict)
    path: Mapping[str, PathProof] = field(default_factory=dict)

    @property
    def delivery(self) -> str | None:
        """Who called the applications with messages; None where no trial recorded it."""
        return delivery_told(self.effective)


@dataclass(frozen=True)
class Examples:
    """Single trials and messages as examples of the experiment; they enter no estimate."""

    time_series: Mapping[str, TimeSeries] = field(default_factory=dict)
    """By stream: of the trial with the median recovery, or else with the median latency."""
    memory: tuple[MemorySeries, ...] = ()
    """Of the first valid trial, where its resources were sampled."""
    messages: Mapping[str, tuple[ExampleMessage, ...]] = field(default_factory=dict)
    """By stream: of the trial with the median typical message, where its path was observed."""


@dataclass(frozen=True)
class ExperimentFindings:
    """All that is known of one experiment; of a capacity search its metric alone."""

    experiment: Experiment
    outcomes: tuple[TrialOutcome, ...]
    estimates: Mapping[Key, Estimate]
    by_block: Mapping[Key, Mapping[Block, float]]
    """Every metric's values by block; a trial that has too few samples for one is not there, nor an overloaded trial's
    latency, nor any trial's where clocks of different machines can't measure one. Infinite where messages were lost.
    """
    counted: Mapping[Key, ShareCounts] = field(default_factory=dict)
    """Of shares of messages: by block how many messages, among how many."""
    above: Mapping[Key, Mapping[Block, float]] = field(default_factory=dict)
    """Of a metric that is known only to lie between two values the upper ones; `by_block` has the lower."""
    machines: Machines = field(default_factory=dict)
    shapes: Shapes = Shapes()
    accounting: Accounting = Accounting()
    configuration: Configuration = Configuration()
    examples: Examples = Examples()
    variance: Mapping[str, VarianceComponents | NoVarianceComponents] = field(default_factory=dict)
    """By stream: where the variance of what it is ranked by comes from."""
    cautions: tuple[tuple[Caution, int], ...] = ()
    """Each warning once, with the number of trials that had it."""
    records: tuple[TrialRecord, ...] = ()
    """Of the valid trials."""
    observed: Mapping[Observation, ExperimentFindings] = field(default_factory=dict)
    """What its observed trials say, which enter no estimate of its own; paired by block they show its cost."""

    @property
    def n_valid(self) -> int:
        """How many trials count."""
        return sum(outcome.kind == "valid" for outcome in self.outcomes)

    @property
    def not_applicable(self) -> str | None:
        """Why the experiment is not applicable to the middleware, where it is not."""
        kinds = {outcome.kind for outcome in self.outcomes}
        return self.outcomes[0].detail if kinds == {"not_applicable"} else None

    def block_values(self, key: Key) -> BlockValues:
        """What is known of a metric, by block: of one-way times between clocks no more than their bound allows."""
        values, above, estimate = self.by_block.get(key, {}), self.above.get(key), self.estimates.get(key)
        return (
            BlockValues(values, above, of_searches=True, machines=self.machines)
            if above is not None
            else with_bound(values, estimate.bound_ns if estimate else 0, self.machines)
        )

    def evidence(self, metric: Metric, name: str | None) -> Evidence:
        """All that is known of a metric of a stream or chain, None for that of the trial."""
        if metric.observed_by is not None:
            return self.having(metric).evidence(replace(metric, observed_by=None), name)
        key = metric.key(name or "")
        values = self.block_values(key)
        return Evidence(
            block_values=values,
            counts=counts_by_machine(self.counted.get(key, {}), self.machines),
            estimate=self.estimates.get(key),
            setbacks=self.setbacks(key, name, values),
            n_lost=self._n_lost(key),
            is_share=metric.is_share,
            is_maximum=key.metric.endswith("_max_ns"),
            lower_is_better=metric.lower_is_better,
            missing=self.why_missing(key),
        )

    def having(self, metric: Metric) -> ExperimentFindings:
        """What has the metric: this, or what the trials with the metric's observation say."""
        if metric.observed_by is None:
            return self
        return self.observed.get(metric.observed_by, ExperimentFindings(self.experiment, (), {}, {}))

    def setbacks(self, key: Key, name: str | None, values: BlockValues) -> Setbacks:
        """The trials that can't speak for a metric because the middleware could not keep up in them."""
        if is_search(self.experiment):
            return Setbacks()
        kinds = Counter(outcome.kind for outcome in self.outcomes)
        overloaded = 0
        if key.metric in _OF_THE_PATH:
            overloaded = self.accounting.overloaded.get(name or "", 0)
        elif key.metric == "cpu_percent_of_core":  # who sends less computes less
            overloaded = max(self.accounting.overloaded.values(), default=0)
        return count_setbacks(kinds, values, overloaded)

    def _n_lost(self, key: Key) -> int:
        """Of a largest time: the messages or answers that never came."""
        share = "unanswered_share" if key.metric.startswith(Distribution.ROUND_TRIP) else "loss_share"
        counted = self.counted.get(Key(key.subject, share), {}) if key.metric in _LARGEST_OF_THE_PATH else {}
        return sum(lost for lost, _ in counted.values())

    def why_missing(self, key: Key) -> str:
        """Why there is no value of a metric in any trial."""
        if self.not_applicable is not None:
            return f"not applicable: {self.not_applicable}"
        if not self.n_valid:
            endings = sorted({": ".join(filter(None, (outcome.kind, outcome.reason))) for outcome in self.outcomes})
            return f"no valid trial ({', '.join(endings) or 'none was run'})"
        estimate = self.estimates.get(key)
        if estimate is None:
            return "not measured"
        return estimate.reason or "too few samples in each trial"

    def estimate(self, subject: str, metric: str) -> Estimate | None:
        """One estimate; None where the metric does not belong to this experiment."""
        return self.estimates.get(Key(subject, metric))
