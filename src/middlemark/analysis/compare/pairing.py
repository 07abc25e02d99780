"""What is compared with what: the same experiment in two runs, or experiments of one run that differ in one factor.

It finds the pairs and names the sides; `verdict` has the statistics and decides. Trials of one run are paired by block.
Two runs did not take turns, so their trials are not paired, and what the machine did between them is part of any
difference; `base_runs` pairs a run with several, which tell how runs differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.metrics.catalog import Metric, usual_of
from middlemark.analysis.run import RunFindings
from middlemark.analysis.stats.estimate import Estimate
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.across_runs import next_run, over_runs, setbacks_of
from middlemark.analysis.verdicts.bounds import Evidence
from middlemark.analysis.verdicts.difference import (
    Difference,
    NoDifference,
    difference_of_shares,
    ratio,
    ratio_of_wholes,
)
from middlemark.analysis.verdicts.values import Whole
from middlemark.analysis.verdicts.verdict import Both, Decided, verdict
from middlemark.errors import UsageError
from middlemark.suite.yaml.model import closest_first

OPTION = "option."
OF_THE_CONTENDER = ("middleware", "profile")
"""Factors that options go with: whoever varies these compares each with its own options."""


@dataclass(frozen=True)
class Pair:
    """Two experiments to compare, the first being the base."""

    setting: str
    """What both have in common."""
    names: tuple[str, str]
    sides: tuple[ExperimentFindings, ExperimentFindings]
    paired: bool
    base_runs: tuple[ExperimentFindings, ...] = ()
    """Where a run is held against runs of the base: the experiment in each of these, the first side being the last."""


@dataclass(frozen=True)
class Compared:
    """One figure of one stream on both sides."""

    pair: Pair
    figure: Metric
    stream: str | None
    """None where the figure is of the trial."""
    estimates: tuple[Estimate | None, Estimate | None]
    difference: Difference | NoDifference
    decided: Decided
    setbacks: Both
    """Trials of either side that could not keep up."""


@dataclass(frozen=True)
class Pairs:
    """All pairs, and what has no counterpart."""

    pairs: tuple[Pair, ...]
    alone: tuple[str, ...]
    """Experiments that one run has only, in words."""
    gone: tuple[str, ...] = ()
    """Those of them that only the base has."""


def of_two_runs(base: RunFindings, head: RunFindings) -> Pairs:
    """Pair the experiments that both runs have."""
    sides = [{each.experiment.id: each for each in run.comparable} for run in (base, head)]
    common = sorted(sides[0].keys() & sides[1].keys())
    if not common:
        raise UsageError(
            "the two runs have no experiment in common",
            remedy=f"they differ in {', '.join(differing(sides[0].values(), sides[1].values()))}; "
            "compare runs of one suite, or one run `--by` a factor",
        )
    names = (base.folder.path.name, head.folder.path.name)
    shown = telling([sides[0][name] for name in common])
    both = [(sides[0][name], sides[1][name]) for name in common]
    pairs = [Pair(words(each[0], shown), names, each, paired=False) for each in both]
    of_all = telling([each for side in sides for each in side.values()])
    gone, new = (
        tuple(f"only {name} has {words(each, of_all)}" for each in own.values() if each.experiment.id not in others)
        for name, own, others in ((names[0], sides[0], sides[1]), (names[1], sides[1], sides[0]))
    )
    return Pairs(tuple(pairs), (*gone, *new), gone)


def differing(first: Iterable[ExperimentFindings], second: Iterable[ExperimentFindings]) -> list[str]:
    """The factors in which two groups of experiments have no value in common."""
    one, other = ([each.experiment.factors for each in side] for side in (first, second))
    names = dict.fromkeys(name for factors in (*one, *other) for name in factors)
    apart = [name for name in names if {f.get(name) for f in one}.isdisjoint({f.get(name) for f in other})]
    return apart or ["factors"]


def within_run(experiments: Sequence[ExperimentFindings], by: str, base: str | None = None) -> Pairs:
    """Pair the experiments of one run that differ in one factor alone; with `base`, each with that value only."""
    values = list(dict.fromkeys(each.experiment.factors[by] for each in experiments if by in each.experiment.factors))
    if len(values) < 2:
        raise UsageError(
            f"the run has {'one value' if values else 'nothing'} of `{by}` to compare",
            remedy=f"factors that vary: {closest_first(by, _varying(experiments)) or 'none'}",
        )
    if base is not None and base not in values:
        raise UsageError(f"no experiment of the run has {by}={base}", remedy=f"{by}: {closest_first(base, values)}")
    groups: dict[tuple[tuple[str, str], ...], list[ExperimentFindings]] = {}
    for each in experiments:
        if by in each.experiment.factors:
            groups.setdefault(_beside(each, by), []).append(each)
    shown = [name for name in telling(experiments) if name != by and not _goes_with(name, by)]
    found = [
        Pair(words(first, shown), (_side(first, by), _side(second, by)), (first, second), paired=True)
        for group in groups.values()
        for first, second in combinations(_base_first(group, by, base), 2)
        if base is None or first.experiment.factors[by] == base != second.experiment.factors[by]
    ]
    if not found:
        raise UsageError(
            f"no two experiments of the run differ in `{by}` alone",
            remedy=f"factors that vary: {', '.join(_varying(experiments))}",
        )
    return Pairs(tuple(found), ())


def _base_first(group: Sequence[ExperimentFindings], by: str, base: str | None) -> list[ExperimentFindings]:
    return sorted(group, key=lambda each: (each.experiment.factors[by] != base, each.experiment.factors[by]))


def _goes_with(name: str, by: str) -> bool:
    return by in OF_THE_CONTENDER and name.startswith(OPTION)


def _beside(each: ExperimentFindings, by: str) -> tuple[tuple[str, str], ...]:
    factors = each.experiment.factors
    return tuple((name, value) for name, value in factors.items() if name != by and not _goes_with(name, by))


def _side(each: ExperimentFindings, by: str) -> str:
    factors = each.experiment.factors
    options = [f"{name.removeprefix(OPTION)}={v}" for name, v in factors.items() if _goes_with(name, by)]
    return f"{factors[by]} ({', '.join(options)})" if options else factors[by]


def _varying(experiments: Sequence[ExperimentFindings]) -> list[str]:
    names = dict.fromkeys(name for each in experiments for name in each.experiment.factors)
    return [name for name in names if len({each.experiment.factors.get(name) for each in experiments}) > 1]


def telling(experiments: Sequence[ExperimentFindings]) -> list[str]:
    """The factors that name a setting: those that vary, and always the middleware and the workload."""
    varying = _varying(experiments)
    return [name for name in experiments[0].experiment.factors if name in {"middleware", "workload", *varying}] + [
        name for name in varying if name not in experiments[0].experiment.factors
    ]


def words(each: ExperimentFindings, shown: Sequence[str]) -> str:
    """An experiment by these of its factors."""
    return " ".join(f"{name}={each.experiment.factors[name]}" for name in shown if name in each.experiment.factors)


def compared(pairs: Sequence[Pair], figures: Sequence[Metric], margin: float) -> tuple[Compared, ...]:
    """Every figure that a pair has, of every stream."""
    return tuple(
        _compared(pair, figure, stream, margin)
        for pair in pairs
        for figure in figures
        for stream in _streams(pair, figure)
    )


def usually_compared(pairs: Sequence[Pair], margin: float, *, streams: bool = False) -> tuple[Compared, ...]:
    """What is worth comparing where no figure is named: of a pipeline its chains, and its streams on demand."""
    return tuple(
        each for pair in pairs for each in compared([pair], usual_of(pair.sides[0].experiment, streams=streams), margin)
    )


def _streams(pair: Pair, figure: Metric) -> list[str | None]:
    """The streams of which at least one side has the figure; `None` for the trial as a whole."""
    names = figure.names(pair.sides[0].experiment)
    return [name for name in names if any(figure.key(name or "") in side.estimates for side in pair.sides)]


def _compared(pair: Pair, figure: Metric, stream: str | None, margin: float) -> Compared:
    runs = [each.evidence(figure, stream) for each in pair.base_runs or pair.sides[:1]]
    second = pair.sides[1].evidence(figure, stream)
    setbacks = runs[-1].setbacks, second.setbacks
    if pair.base_runs:
        setbacks = setbacks_of([each.setbacks for each in runs], second.setbacks)
    found = _difference(pair, runs, second)
    return Compared(
        pair=pair,
        figure=figure,
        stream=stream,
        estimates=(over_runs(runs), second.estimate),
        difference=found,
        decided=verdict(found, lower_is_better=figure.lower_is_better, margin=margin, setbacks=setbacks),
        setbacks=setbacks,
    )


def _difference(pair: Pair, runs: Sequence[Evidence], second: Evidence) -> Difference | NoDifference:
    told = [each for each in runs if each.has_values]
    missing = {} if told else {pair.names[0]: runs[-1].missing}
    missing |= {} if second.has_values else {pair.names[1]: second.missing}
    if missing:
        return NoDifference(_said_once(missing))
    return next_run(told, second) if pair.base_runs else differs(told[-1], second, paired=pair.paired)


def differs(
    first: Evidence, second: Evidence, *, paired: bool, confidence: float = CONFIDENCE
) -> Difference | NoDifference:
    """The second against the first: by the trials that have a value; shares, and what no trial has, by all messages."""
    if first.is_share:
        return difference_of_shares(first.counts, second.counts, confidence=confidence)
    found = ratio(first.known.finite, second.known.finite, paired=paired, confidence=confidence)
    wholes = first.whole, second.whole
    if isinstance(found, NoDifference) and isinstance(wholes[0], Whole) and isinstance(wholes[1], Whole):
        return ratio_of_wholes(wholes[0], wholes[1], confidence=confidence)
    return found


def _said_once(missing: Mapping[str, str]) -> str:
    """What either side lacks; once where both lack the same."""
    if len(missing) == 2 and len(set(missing.values())) == 1:
        return f"both: {next(iter(missing.values()))}"
    return "; ".join(f"{name}: {why}" for name, why in missing.items())
