"""Experiments that differ in the middleware and its configuration alone, ranked by what their pattern is about.

Latency ranks periodic and burst streams, the round trip ping-pongs, goodput unthrottled streams, the end-to-end latency
chains of nodes. What loses too much without a fault, is overloaded or has no valid trial is not ranked, and says why.
The test behind a rank is `compare`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from middlemark.analysis.compare import Block, Place, Ratio, paired_ratio, ranking
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.metric_names import Key, of_chain, of_stream
from middlemark.analysis.samples import Distribution
from middlemark.plan import Experiment, Stream

LOSS_ALLOWED = 0.01
"""A stream that loses more than this share of its messages is not ranked: the latency of the survivors flatters it."""

OF_THE_CONTENDER = ("middleware", "profile", "side")
"""The factors that a comparison varies; options of a middleware with them."""


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
    "unthrottled": _GOODPUT,
}

_LONG_NS = 1_000_000_000_000
"""So long that rates below one a second can be told apart."""


@dataclass(frozen=True)
class Setting:
    """What all experiments of a comparison have in common."""

    factors: tuple[tuple[str, str], ...]
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
        """What its figures are of."""
        return of_chain(self.stream) if self.of_chain else of_stream(self.stream)


@dataclass(frozen=True)
class Comparison:
    """The experiments of one setting, best first, then those that are not ranked."""

    setting: Setting
    criterion: Criterion
    experiments: tuple[ExperimentFindings, ...]
    places: Mapping[str, Place[str]]
    """By experiment id; only of those that are ranked."""
    unranked: Mapping[str, str]
    """By experiment id: why it is not."""
    to_best: Mapping[str, Ratio]
    """By experiment id: how many times the best one's value it has; without the best itself."""

    @property
    def faulty(self) -> bool:
        """Whether its experiments have a timeline of faults."""
        return any(each.experiment.timeline for each in self.experiments)

    @property
    def best(self) -> ExperimentFindings | None:
        """The first line of the ranking, which others may tie with."""
        return self.experiments[0] if self.places else None

    def ratio(self, first: ExperimentFindings, second: ExperimentFindings) -> Ratio | None:
        """How many times the second's value the first has, paired by block."""
        return paired_ratio(_values(first, self.setting, self.criterion), _values(second, self.setting, self.criterion))


def criterion_of(stream: Stream) -> Criterion:
    """What a stream is ranked by."""
    return _CRITERIA[stream.pattern.kind]


def comparisons(findings: Iterable[ExperimentFindings]) -> tuple[Comparison, ...]:
    """Group experiments by their settings and rank each group."""
    groups: dict[Setting, list[ExperimentFindings]] = {}
    for each in findings:
        for setting in _settings(each.experiment):
            groups.setdefault(setting, []).append(each)
    order = sorted(groups, key=lambda setting: _place(setting, groups[setting][0].experiment))
    return tuple(_comparison(setting, groups[setting]) for setting in order)


def _place(setting: Setting, experiment: Experiment) -> tuple[str, int, int, str]:
    """Where a setting stands: of a workload the small and the rare messages come first, which no text's order tells."""
    size_bytes = max(stream.size_bytes for stream in experiment.streams)
    messages = max(stream.most_messages(_LONG_NS) for stream in experiment.streams)
    return setting.workload, size_bytes, messages, setting.id


def _settings(experiment: Experiment) -> list[Setting]:
    factors = tuple(
        (name, value)
        for name, value in experiment.factors.items()
        if name not in OF_THE_CONTENDER and not name.startswith("option.")
    )
    if experiment.chains:
        return [Setting(factors, experiment.workload, chain.name, of_chain=True) for chain in experiment.chains]
    return [Setting(factors, experiment.workload, stream.name) for stream in experiment.streams]


def _comparison(setting: Setting, group: Sequence[ExperimentFindings]) -> Comparison:
    criterion = _criterion(setting, group[0].experiment)
    reasons = {each.experiment.id: _why_not_ranked(each, setting, criterion) for each in group}
    unranked = {name: reason for name, reason in reasons.items() if reason is not None}
    values = {
        each.experiment.id: _values(each, setting, criterion) for each in group if each.experiment.id not in unranked
    }
    places = ranking(values, lower_is_better=criterion.lower_is_better)
    by_id = {each.experiment.id: each for each in group}
    order = [place.key for place in places] + sorted(unranked)
    ratios = {name: paired_ratio(values[name], values[order[0]]) for name in list(values) if name != order[0]}
    return Comparison(
        setting=setting,
        criterion=criterion,
        experiments=tuple(by_id[name] for name in order),
        places={place.key: place for place in places},
        unranked=unranked,
        to_best={name: ratio for name, ratio in ratios.items() if ratio is not None},
    )


def _criterion(setting: Setting, experiment: Experiment) -> Criterion:
    if setting.of_chain:
        return _END_TO_END
    return next(criterion_of(stream) for stream in experiment.streams if stream.name == setting.stream)


def _values(each: ExperimentFindings, setting: Setting, criterion: Criterion) -> Mapping[Block, float]:
    if criterion.distribution is None:
        return each.by_block.get(Key(setting.subject, criterion.metric), {})
    return each.medians.get((setting.stream, criterion.distribution), {})


def _why_not_ranked(each: ExperimentFindings, setting: Setting, criterion: Criterion) -> str | None:
    if each.not_applicable is not None:
        return f"not applicable: {each.not_applicable}"
    if not each.n_valid:
        return "no valid trial"
    loss = each.estimate(setting.subject, criterion.loss_metric)
    # Under faults messages are meant to go missing: `recovery` has the figures, and the report puts them beside.
    if not each.experiment.timeline and loss is not None and loss.value is not None and loss.value > LOSS_ALLOWED:
        return f"loses {round(100 * loss.value, 1):g} % of its messages"
    if each.overloaded.get(setting.stream) == each.n_valid:
        return "overloaded: it could not be sent at its rate"
    if _values(each, setting, criterion):
        return None
    main = each.estimate(setting.subject, criterion.metric)
    nothing = "nothing came to its end" if setting.of_chain else "nothing was received in time"
    return main.reason if main is not None and main.n_messages else nothing
