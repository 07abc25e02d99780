"""Experiments that differ in the middleware and its configuration alone, ranked by what their pattern is about.

Latency ranks periodic and burst streams, the round trip ping-pongs, goodput unthrottled streams, the end-to-end latency
chains of nodes. Candidates that lose too much without a fault, could not keep up in most trials, or have too few valid
trials are not ranked, with the reason; `verdicts.ranking` has the test of a rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.verdicts.difference import FEWEST_BLOCKS, Difference, ratio
from middlemark.analysis.verdicts.ranking import Candidate, Rank, ranking
from middlemark.analysis.verdicts.values import BlockValues
from middlemark.plan import Experiment, Stream
from middlemark.plan.factors import Factors, setting_factors
from middlemark.suite.metrics import Distribution, Key, chain_subject, stream_subject

LOSS_ALLOWED = 0.01
"""A stream that does not deliver more than this share of its messages is not ranked: it does not do what is
required."""
DELIVERY_FACTOR = "delivery"
"""What no ranking mixes: where candidates of one setting have several in effect, each is a setting of its own."""
_LONG_NS = 1_000_000_000_000
"""So long that rates below one a second can be distinguished."""


@dataclass(frozen=True)
class Criterion:
    """What a stream is ranked by."""

    metric: str
    distribution: Distribution | None
    """None for goodput."""
    loss_metric: str
    lower_is_better: bool


_LATENCY = Criterion("latency_from_send_p50_ns", Distribution.LATENCY_FROM_SEND, "loss_share", lower_is_better=True)
_ROUND_TRIP = Criterion("round_trip_p50_ns", Distribution.ROUND_TRIP, "unanswered_share", lower_is_better=True)
_END_TO_END = Criterion("end_to_end_p50_ns", Distribution.END_TO_END, "loss_share", lower_is_better=True)
_GOODPUT = Criterion("goodput_bytes_per_s", None, "loss_share", lower_is_better=False)
_CRITERIA = {
    "periodic": _LATENCY,
    "burst": _LATENCY,
    "computed": _LATENCY,
    "ping_pong": _ROUND_TRIP,
    "open_requests": _ROUND_TRIP,
    "closed_requests": _ROUND_TRIP,
    "unthrottled": _GOODPUT,
}


@dataclass(frozen=True)
class Setting:
    """What all experiments of a comparison have in common."""

    factors: Factors
    workload: str
    stream: str
    """The stream that is compared; of a comparison of chains, the chain."""
    of_chain: bool = False

    @property
    def id(self) -> str:
        """Its factors in one line."""
        return " ".join(f"{name}={value}" for name, value in self.factors)

    @property
    def subject(self) -> str:
        """What its metrics are of."""
        return chain_subject(self.stream) if self.of_chain else stream_subject(self.stream)


@dataclass(frozen=True)
class Comparison:
    """The experiments of one setting, best first, then those that are not ranked."""

    setting: Setting
    criterion: Criterion
    experiments: tuple[ExperimentFindings, ...]
    places: Mapping[str, Rank[str]]
    """By experiment id; only of those that are ranked."""
    unranked: Mapping[str, str]
    """By experiment id: why it is not."""
    to_best: Mapping[str, Difference]
    """By experiment id: how many times the first one's value it has, by what it is ranked by; without the first."""

    @property
    def faulty(self) -> bool:
        """Whether its experiments have a timeline of faults."""
        return any(candidate.experiment.timeline for candidate in self.experiments)

    @property
    def ranked(self) -> tuple[ExperimentFindings, ...]:
        """Those that are ranked, in the order of their values."""
        return tuple(candidate for candidate in self.experiments if candidate.experiment.id in self.places)

    @property
    def best(self) -> ExperimentFindings | None:
        """The first of those that none is significantly better than."""
        return next((candidate for candidate in self.ranked if self.places[candidate.experiment.id].first == 1), None)

    def of(self, findings: Iterable[ExperimentFindings]) -> Comparison:
        """The same of its experiments as they are given here."""
        by_id = {candidate.experiment.id: candidate for candidate in findings}
        return replace(self, experiments=tuple(by_id[candidate.experiment.id] for candidate in self.experiments))

    def is_behind(self, candidate: ExperimentFindings, other: ExperimentFindings) -> bool:
        """Whether the other is significantly better, within the error rate of the whole table."""
        return other.experiment.id in self.places[candidate.experiment.id].behind

    def ratio(self, first: ExperimentFindings, second: ExperimentFindings) -> Difference | None:
        """How many times the second's value the first has, paired by block."""
        difference = ratio(*(self._block_values(candidate) for candidate in (second, first)), paired=True)
        return difference if isinstance(difference, Difference) else None

    def _block_values(self, candidate: ExperimentFindings) -> BlockValues:
        return candidate.block_values(Key(self.setting.subject, self.criterion.metric)).finite


def criterion_of(stream: Stream) -> Criterion:
    """What a stream is ranked by."""
    return _CRITERIA[stream.pattern.kind]


def comparisons(findings: Iterable[ExperimentFindings]) -> tuple[Comparison, ...]:
    """Group experiments by their settings, like deliveries beside like, and rank each group."""
    mixed: dict[Setting, list[ExperimentFindings]] = {}
    for candidate in findings:
        for setting in _settings(candidate.experiment):
            mixed.setdefault(setting, []).append(candidate)
    groups = {like: members for setting, group in mixed.items() for like, members in _by_delivery(setting, group)}
    order = sorted(groups, key=lambda setting: _place(setting, groups[setting][0].experiment))
    return tuple(_comparison(setting, groups[setting]) for setting in order)


def _by_delivery(
    setting: Setting, group: Sequence[ExperimentFindings]
) -> Iterator[tuple[Setting, Sequence[ExperimentFindings]]]:
    """Each delivery in effect with those that have it, as a part of every latency is who calls the application.

    What never ran has none, and stands with most of the others.
    """
    of_each = {candidate.experiment.id: _delivery(candidate) for candidate in group}
    having = Counter(delivery for delivery in of_each.values() if delivery)
    if len(having) < 2:
        yield setting, group
        return
    usual = max(having, key=lambda delivery: (having[delivery], delivery))
    for delivery in sorted(having):
        members = [candidate for candidate in group if (of_each[candidate.experiment.id] or usual) == delivery]
        factors = dict(setting.factors) | {DELIVERY_FACTOR: delivery}
        yield replace(setting, factors=tuple(factors.items())), members


def _delivery(candidate: ExperimentFindings) -> str:
    """Empty where it never ran; runs from before it was recorded don't tell it."""
    configuration = candidate.configuration
    return (configuration.delivery or "unknown") if configuration.effective else ""


def _place(setting: Setting, experiment: Experiment) -> tuple[str, int, int, str]:
    """Where a setting stands: of a workload the small and the rare messages come first, which no text's order gives."""
    size_bytes = max(stream.size_bytes for stream in experiment.streams)
    messages = max(stream.most_messages(_LONG_NS) for stream in experiment.streams)
    return setting.workload, size_bytes, messages, setting.id


def _settings(experiment: Experiment) -> list[Setting]:
    factors = setting_factors(experiment)
    if experiment.chains:
        return [Setting(factors, experiment.workload, chain.name, of_chain=True) for chain in experiment.chains]
    return [Setting(factors, experiment.workload, stream.name) for stream in experiment.streams]


def _comparison(setting: Setting, group: Sequence[ExperimentFindings]) -> Comparison:
    criterion = _criterion(setting, group[0].experiment)
    key = Key(setting.subject, criterion.metric)
    values = {candidate.experiment.id: candidate.block_values(key) for candidate in group}
    reasons = {candidate.experiment.id: _why_not_ranked(candidate, setting, criterion) for candidate in group}
    most = max((len(values[name].finite) for name, reason in reasons.items() if not reason), default=0)
    few = {
        name: n for name, reason in reasons.items() if not reason and (n := len(values[name].finite)) < FEWEST_BLOCKS
    }
    if most >= FEWEST_BLOCKS:
        reasons |= {name: f"only {n} of {most} trials have a value, too few to rank it" for name, n in few.items()}
    unranked = {name: reason for name, reason in reasons.items() if reason}
    candidates = {
        candidate.experiment.id: Candidate(
            values[candidate.experiment.id],
            _shown_value(candidate, key),
            candidate.setbacks(key, setting.stream, values[candidate.experiment.id]),
        )
        for candidate in group
        if candidate.experiment.id not in unranked
    }
    places = ranking(candidates, lower_is_better=criterion.lower_is_better)
    by_id = {candidate.experiment.id: candidate for candidate in group}
    comparison = Comparison(
        setting=setting,
        criterion=criterion,
        experiments=tuple(by_id[name] for name in (*(place.key for place in places), *sorted(unranked))),
        places={place.key: place for place in places},
        unranked=unranked,
        to_best={},
    )
    to_best = {
        candidate.experiment.id: comparison.ratio(candidate, comparison.experiments[0])
        for candidate in comparison.ranked[1:]
    }
    return replace(
        comparison, to_best={name: difference for name, difference in to_best.items() if difference is not None}
    )


def _shown_value(candidate: ExperimentFindings, key: Key) -> float:
    """The value that a reader sees; that of single trials where there is none over all."""
    estimate = candidate.estimates.get(key)
    if estimate is not None and estimate.value is not None:
        return estimate.value
    return float(np.median(list(candidate.block_values(key).low.values())))


def _criterion(setting: Setting, experiment: Experiment) -> Criterion:
    if setting.of_chain:
        return _END_TO_END
    return next(criterion_of(stream) for stream in experiment.streams if stream.name == setting.stream)


def _why_not_ranked(candidate: ExperimentFindings, setting: Setting, criterion: Criterion) -> str:
    """Empty where it is to be ranked."""
    if candidate.not_applicable is not None:
        return f"not applicable: {candidate.not_applicable}"
    if not candidate.n_valid:
        return "no valid trial"
    # Under faults messages are meant to go missing: `recovery` has the metrics, and the report shows them.
    if not candidate.experiment.timeline and (undelivered := _undelivered(candidate, setting, criterion)):
        return undelivered
    key = Key(setting.subject, criterion.metric)
    values = candidate.block_values(key)
    setbacks = candidate.setbacks(key, setting.stream, values)
    if setbacks.is_majority:
        return str(setbacks)
    if values.finite.low:
        return ""
    main = candidate.estimates.get(key)
    nothing = "no path ended" if setting.of_chain else "nothing was received in time"
    return nothing if main is None else main.reason or "no trial alone has messages enough for a value"


def _undelivered(candidate: ExperimentFindings, setting: Setting, criterion: Criterion) -> str:
    """Lost, refused and not offered messages count alike: none of them reached its user."""
    loss = candidate.estimate(setting.subject, criterion.loss_metric)
    whole = candidate.estimate(setting.subject, "undelivered_share")
    if loss is not None and loss.value is not None and loss.value > LOSS_ALLOWED:
        return f"loses {round(100 * loss.value, 1):g} % of its messages"
    if whole is not None and whole.value is not None and whole.value > LOSS_ALLOWED:
        return f"does not deliver {round(100 * whole.value, 1):g} % of its messages (refused, not offered or lost)"
    return ""
