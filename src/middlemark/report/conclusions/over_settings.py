"""What all settings of a run come to: who leads in how many of them and by how much, and the geometric means.

It counts what `headline` found for each setting and ranks nothing itself; baselines don't count. The means are
`analysis.compare.metrics`'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from statistics import median

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.compare.metrics import OverSettings
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.report.conclusions.comparison import json_values
from middlemark.report.conclusions.headline import Answer
from middlemark.report.elements.candidate_tables import LabelledRow, labelled_table
from middlemark.report.elements.formatting import NARROW_SPACE, factor, times
from middlemark.report.elements.labels import Series, deliveries_cell
from middlemark.report.elements.tables import NOTHING, Cell, Table, named, sentences, table, values
from middlemark.suite.yaml.quantity import first_few, plural

MEANS_CAPTION = (
    "Geometric means of the ratios in all settings with equal weights; each stream of an experiment is a setting. "
    "They summarise the settings of this suite and are no prediction for others; confidence intervals are over blocks."
)
_NAMED = 3
"""Of settings without a ratio, so many are named."""


@dataclass(frozen=True)
class _Span:
    value: float
    low: float
    high: float


def mean_words(mean: OverSettings) -> str:
    """The mean with its interval, or why there is none."""
    if mean.value is None:
        names = first_few(mean.missing, _NAMED, "setting")
        return f"none: {len(mean.missing)} of {plural(mean.n_settings, 'setting')} without a ratio ({names})"
    if mean.low is None or mean.high is None:
        return f"{factor(mean.value)}{NARROW_SPACE}×"
    return times(_Span(mean.value, mean.low, mean.high))


def means_table(means: Sequence[OverSettings]) -> Table:
    """One row a metric and two sides; where no setting has a ratio there is nothing to sum up."""
    columns = (*named("second / first", "metric"), *values("settings"), sentences("geometric mean"))
    rows = [
        (f"{result.names[1]} / {result.names[0]}", result.metric.name, Cell(result.n_settings), mean_words(result))
        for result in means
        if len(result.missing) < result.n_settings
    ]
    return table("Over all settings", columns, rows, MEANS_CAPTION)


def means_data(means: Iterable[OverSettings]) -> list[dict[str, object]]:
    """Every mean for a program to read."""
    return [
        {
            "sides": list(result.names),
            "figure": result.metric.name,
            "metric": result.metric.stored_name,
            "settings": result.n_settings,
            **json_values({"geometric_mean": result.value, "low": result.low, "high": result.high}),
            "missing": list(result.missing),
        }
        for result in means
    ]


CROWDED = 12
"""With more settings than this, nobody reads them one by one."""


class Standing(Enum):
    """The result of a candidate in one setting."""

    LEADS = "leads"
    TIED = "tied first"
    BEHIND = "behind"
    ALONE = "alone"
    UNRANKED = "not ranked"


CAPTION = (
    "The number of settings with each result. Leads: significantly better than all others. Tied first: no other is "
    "significantly better. Behind: another is significantly better. Alone: nothing else could be ranked. Not ranked: "
    "not applicable, could not keep up, or delivered too little. Relative to the best: its value divided by that of "
    "the best, as median over the settings in which both are ranked; confidence intervals are given at each setting. "
    "Baselines are left out."
)


@dataclass
class _Tally:
    standings: Counter[Standing] = field(default_factory=Counter)
    findings: list[ExperimentFindings] = field(default_factory=list)
    times_the_best: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Standings:
    """What all settings of a run come to."""

    sentence: str
    table: Table


def standings(
    comparisons: Sequence[Comparison], answers: Sequence[Answer], series_of: Mapping[str, Series]
) -> Standings | None:
    """`answers` are those of the comparisons, in their order; None where there is no middleware beside baselines."""
    tallies: dict[str, _Tally] = {}
    decided = []
    for comparison, answer in zip(comparisons, answers, strict=True):
        of_setting = dict(_standings(comparison, answer, series_of))
        decided.append(_decided(of_setting))
        best = _best(comparison, answer, series_of)
        for label, (standing, candidate) in of_setting.items():
            tally = tallies.setdefault(label, _Tally())
            tally.standings[standing] += 1
            tally.findings.append(candidate)
            if best is not None and standing not in (Standing.ALONE, Standing.UNRANKED):
                tally.times_the_best += _times(comparison, candidate, best)
    if not tallies:
        return None
    rows = (_row(label, tally) for label, tally in sorted(tallies.items(), key=_order))
    columns = values(*(standing.value for standing in Standing), "relative to the best")
    return Standings(_sentence(decided), labelled_table("Over all settings", columns, rows, CAPTION))


def _standings(
    comparison: Comparison, answer: Answer, series_of: Mapping[str, Series]
) -> Iterator[tuple[str, tuple[Standing, ExperimentFindings]]]:
    first = {series.label for series in answer.winners}
    field_ = [candidate for candidate in comparison.experiments if not series_of[candidate.experiment.id].baseline]
    n_ranked = sum(candidate.experiment.id in comparison.places for candidate in field_)
    for measured in field_:
        label = series_of[measured.experiment.id].label
        if measured.experiment.id not in comparison.places:
            yield label, (Standing.UNRANKED, measured)
        elif n_ranked == 1:
            yield label, (Standing.ALONE, measured)
        elif label in first:
            yield label, (Standing.LEADS if len(first) == 1 else Standing.TIED, measured)
        else:
            yield label, (Standing.BEHIND, measured)


def _decided(standings: Mapping[str, tuple[Standing, ExperimentFindings]]) -> Standing:
    """The result of one setting: the best standing of any candidate in it."""
    held = {standing for standing, _ in standings.values()}
    return next((standing for standing in Standing if standing in held), Standing.UNRANKED)


def _best(comparison: Comparison, answer: Answer, series_of: Mapping[str, Series]) -> ExperimentFindings | None:
    if not answer.winners or answer.winners[0].baseline:
        return None
    label = answer.winners[0].label
    return next(
        (candidate for candidate in comparison.experiments if series_of[candidate.experiment.id].label == label), None
    )


def _times(comparison: Comparison, candidate: ExperimentFindings, best: ExperimentFindings) -> list[float]:
    subject, metric = comparison.setting.subject, comparison.criterion.metric
    estimate, first = candidate.estimate(subject, metric), best.estimate(subject, metric)
    return [estimate.value / first.value] if estimate and estimate.value and first and first.value else []


def _order(item: tuple[str, _Tally]) -> tuple[int, int, str]:
    label, tally = item
    return -tally.standings[Standing.LEADS], -tally.standings[Standing.TIED], label


def _row(label: str, tally: _Tally) -> LabelledRow:
    relative = f"{factor(median(tally.times_the_best))}{NARROW_SPACE}×" if tally.times_the_best else NOTHING
    counts = (Cell(tally.standings[standing]) for standing in Standing)
    return label, deliveries_cell(tally.findings), (*counts, relative)


def _sentence(decided: Sequence[Standing]) -> str:
    count = Counter(decided)
    outcomes = (
        (Standing.LEADS, "one leads significantly"),
        (Standing.TIED, "several tie for first"),
        (Standing.ALONE, "only one could be ranked"),
        (Standing.UNRANKED, "no middleware could be ranked"),
    )
    parts = [f"in {count[standing]} {words}" for standing, words in outcomes if count[standing]]
    return f"Of {plural(len(decided), 'setting')}: {', '.join(parts)}."
