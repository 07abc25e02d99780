"""The answer to one setting in sentences: what is best, by how much, and whether that is significant.

Baselines are the machine's limit and don't win; the winner is compared with the best of them. It draws and prints
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from middlemark.analysis.compare.comparison import DELIVERY_FACTOR, Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.run import RunFindings
from middlemark.analysis.stats.intervals import APART, CONFIDENCE, coverage
from middlemark.analysis.verdicts.difference import FEWEST_BLOCKS
from middlemark.analysis.verdicts.judge import Verdict, judge_difference
from middlemark.report.elements.formatting import listed, times, unit_of
from middlemark.report.elements.labels import Series, describe_load
from middlemark.report.elements.tables import estimate_cell
from middlemark.report.traffic.faults import fault_sentence
from middlemark.suite.yaml.quantity import plural


@dataclass(frozen=True)
class Answer:
    """What a comparison came to."""

    workload: str
    load: str
    """The load in words."""
    winners: tuple[Series, ...]
    """One, or those that nothing is significantly better than; none where nothing could be ranked."""
    headline: str
    sentences: tuple[str, ...]


def answer(comparison: Comparison, series_of: Mapping[str, Series], varying: frozenset[str] = frozenset()) -> Answer:
    """Put a comparison into words; `varying` are the factors that tell it from the run's others."""
    ranked = list(comparison.ranked)
    field = [candidate for candidate in ranked if not series_of[candidate.experiment.id].baseline] or ranked
    load = describe_load(comparison.setting, varying)
    if comparison.setting.stream != comparison.setting.workload:  # one of several streams that run at once
        load = f"{comparison.setting.stream}, {load}"
    if not field:
        sentences = ("No experiment could be ranked; the reasons are in the table.",)
        return Answer(comparison.setting.workload, load, (), "No answer", sentences)
    first = [candidate for candidate in field if not any(comparison.is_behind(candidate, other) for other in field)]
    best, tied = first[0], first[1:]
    winners = tuple(series_of[candidate.experiment.id] for candidate in (best, *tied))
    parts = [
        _figure(comparison, best, winners),
        _lead(comparison, best, field, series_of),
        _limit(comparison, best, series_of),
        fault_sentence(best, comparison, series_of[best.experiment.id].label) if comparison.faulty else "",
    ]
    return Answer(
        comparison.setting.workload,
        load,
        winners,
        _headline(comparison, best, winners, is_alone=len(field) == 1),
        tuple(sentence for sentence in parts if sentence),
    )


def _headline(comparison: Comparison, best: ExperimentFindings, winners: tuple[Series, ...], *, is_alone: bool) -> str:
    if is_alone:
        beside = " beside the baselines" if len(comparison.ranked) > 1 else ""
        rankable = "could be ranked" if len(comparison.experiments) > 1 else _alone(comparison)
        return f"Only {winners[0].label} {rankable}{beside}"
    quality = {
        "round_trip": "the shortest round trip",
        "latency_from_send": "the lowest latency",
        "end_to_end": f"the lowest end-to-end latency of {comparison.setting.stream.replace('_', ' ')}",
    }
    distribution = comparison.criterion.distribution
    distinction = quality[distribution.value] if distribution else "the highest goodput"
    if len(winners) == 1:
        return f"{winners[0].label} has {distinction}"
    if best.n_valid < FEWEST_BLOCKS:
        trials = plural(best.n_valid, "trial")
        return f"{winners[0].label} has {distinction} of {len(winners)}, but {trials} of each can't decide"
    return f"{listed([series.label for series in winners])} tie for {distinction}"


def _alone(comparison: Comparison) -> str:
    delivery = dict(comparison.setting.factors).get(DELIVERY_FACTOR)
    return f"has the delivery {delivery}" if delivery else "was measured"


def _figure(comparison: Comparison, best: ExperimentFindings, winners: tuple[Series, ...]) -> str:
    estimate = best.estimate(comparison.setting.subject, comparison.criterion.metric)
    unit = unit_of(comparison.criterion.distribution)
    shown = estimate_cell(estimate, unit)
    if estimate is None or shown.is_missing:
        return ""
    kind = {
        "round_trip": "median round trip",
        "latency_from_send": "median one-way latency",
        "end_to_end": "median end-to-end latency",
    }
    distribution = comparison.criterion.distribution
    metric = kind[distribution.value] if distribution else "goodput"
    trials = plural(estimate.n_trials, "trial") if estimate.n_trials > 1 else "one trial"
    span = f" ({shown.interval} over {trials})" if shown.interval else f" ({trials})"
    whose = f"Its {metric}" if len(winners) == 1 else f"The {metric} of {winners[0].label}"
    clocks = f" {shown.clocks}" if shown.clocks else ""
    return f"{whose} is {shown.text}{clocks} {unit.name}{span}."


def _lead(
    comparison: Comparison,
    best: ExperimentFindings,
    field: list[ExperimentFindings],
    series_of: Mapping[str, Series],
) -> str:
    behind = [candidate for candidate in field if comparison.is_behind(candidate, best)]
    if behind:
        return _against(comparison, best, behind[0], series_of)
    if len(field) > 1:
        return "No other differs significantly from it."
    if len(comparison.experiments) > len(comparison.ranked):
        return "The table says why the others could not be ranked."
    return ""


def _against(
    comparison: Comparison, best: ExperimentFindings, other: ExperimentFindings, series_of: Mapping[str, Series]
) -> str:
    ratio = comparison.ratio(other, best)
    if ratio is None:
        return ""
    name = series_of[other.experiment.id].label
    takes = "takes" if comparison.criterion.lower_is_better else "transmits"
    return f"The next that is significantly different, {name}, {takes} {times(ratio, _as_what(comparison))}."


def _as_what(comparison: Comparison) -> str:
    return "as long" if comparison.criterion.lower_is_better else "as much"


def _limit(comparison: Comparison, best: ExperimentFindings, series_of: Mapping[str, Series]) -> str:
    """How far the winner is from the best baseline."""
    baselines = [
        candidate
        for candidate in comparison.experiments
        if candidate.experiment.id in comparison.places and series_of[candidate.experiment.id].baseline
    ]
    if not baselines or series_of[best.experiment.id].baseline:
        return ""
    ratio = comparison.ratio(best, baselines[0])
    name = series_of[baselines[0].experiment.id].label
    if ratio is None:
        return ""
    verdict = judge_difference(ratio, lower_is_better=comparison.criterion.lower_is_better).verdict
    if verdict in {Verdict.UNDECIDED, Verdict.NO_DIFFERENCE}:
        return f"It is not significantly different from the machine's own limit, {name}."
    takes = "takes" if comparison.criterion.lower_is_better else "transmits"
    return f"It {takes} {times(ratio, _as_what(comparison))} as the best baseline, {name}."


def interval_words(findings: RunFindings) -> str:
    """What an interval of this run means, given how many trials it rests on."""
    planned = [
        candidate for candidate in findings.experiments if candidate.experiment.search is None
    ] or findings.experiments
    counts = [candidate.n_valid for candidate in planned if candidate.n_valid]
    n, most = min(counts, default=0), max(counts, default=0)
    if most < 2:
        return "With a single trial there are no confidence intervals, and nothing is decided."
    fewest = "" if n == most else f"Some experiments have fewer valid trials than others: {n} to {most}. "
    if n < 2:
        return f"{fewest}A single trial has no confidence interval."
    if coverage(n) < CONFIDENCE:
        meaning = (
            f"{fewest}The confidence interval of a median over {plural(n, 'trial')} is about their range, and holds "
            f"the true median in at most {100 * coverage(n):.0f} % of cases. For {100 * CONFIDENCE:.0f} % run six "
            "trials or more."
        )
    else:
        meaning = f"A confidence interval holds the true median in {100 * CONFIDENCE:.0f} % of cases."
    return f"{meaning} {_rough_words(findings)}".rstrip()


def _rough_words(findings: RunFindings) -> str:
    """What `≈` before an interval says, where one has it."""
    if not any(estimate.is_rough for candidate in findings.experiments for estimate in candidate.estimates.values()):
        return ""
    return (
        "≈: a rough interval, over the samples of all trials together although trials differ by more than "
        f"{100 * APART:.0f} %, or some have far more of the slowest messages. How often it holds the true value is not "
        "known; more trials help."
    )
