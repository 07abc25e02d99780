"""Which experiments are compared: the same one in two runs or in several base runs, or two that differ in one factor.

It finds the pairs and names them; `metrics` compares each pair. Trials of one run are paired by block; those of two
runs are not, as what the machine did between them is part of any difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.run import RunFindings
from middlemark.errors import UsageError
from middlemark.plan.factors import WITH_OPTIONS, Factors, fixed_factors
from middlemark.results.manifest import Manifest
from middlemark.suite import OPTION
from middlemark.suite.yaml.model import closest_first


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
class Pairs:
    """All pairs, and what has no counterpart."""

    pairs: tuple[Pair, ...]
    alone: tuple[str, ...]
    """Experiments that one run has only, in words."""
    gone: tuple[str, ...] = ()
    """Those of them that only the base has."""


def pair_runs(base: RunFindings, head: RunFindings) -> Pairs:
    """Pair the experiments that both runs have."""
    sides = [{candidate.experiment.id: candidate for candidate in run.comparable} for run in (base, head)]
    common = sorted(sides[0].keys() & sides[1].keys())
    if not common:
        raise UsageError(
            "the two runs have no experiment in common",
            remedy=f"they differ in {', '.join(differing_factors(sides[0].values(), sides[1].values()))}; "
            "compare runs of one suite, or one run `--by` a factor",
        )
    names = (base.folder.path.name, head.folder.path.name)
    shown = naming_factors([sides[0][name] for name in common])
    matched = [(sides[0][name], sides[1][name]) for name in common]
    pairs = [Pair(describe_factors(pair[0], shown), names, pair, paired=False) for pair in matched]
    of_all = naming_factors([candidate for side in sides for candidate in side.values()])
    gone, new = (
        tuple(
            f"only {name} has {describe_factors(candidate, of_all)}"
            for candidate in candidates.values()
            if candidate.experiment.id not in others
        )
        for name, candidates, others in ((names[0], sides[0], sides[1]), (names[1], sides[1], sides[0]))
    )
    return Pairs(tuple(pairs), (*gone, *new), gone)


def differing_factors(first: Iterable[ExperimentFindings], second: Iterable[ExperimentFindings]) -> list[str]:
    """The factors in which two groups of experiments have no value in common."""
    of_first, of_second = ([candidate.experiment.factors for candidate in side] for side in (first, second))
    names = dict.fromkeys(name for factors in (*of_first, *of_second) for name in factors)
    apart = [name for name in names if {f.get(name) for f in of_first}.isdisjoint({f.get(name) for f in of_second})]
    return apart or ["factors"]


def pair_within_run(experiments: Sequence[ExperimentFindings], by: str, base: str | None = None) -> Pairs:
    """Pair the experiments of one run that differ in one factor alone; with `base`, each with that value only."""
    values = list(
        dict.fromkeys(
            candidate.experiment.factors[by] for candidate in experiments if by in candidate.experiment.factors
        )
    )
    if len(values) < 2:
        raise UsageError(
            f"the run has {'one value' if values else 'nothing'} of `{by}` to compare",
            remedy=f"factors that vary: {closest_first(by, _varying(experiments)) or 'none'}",
        )
    if base is not None and base not in values:
        raise UsageError(f"no experiment of the run has {by}={base}", remedy=f"{by}: {closest_first(base, values)}")
    groups: dict[Factors, list[ExperimentFindings]] = {}
    for measured in experiments:
        if by in measured.experiment.factors:
            groups.setdefault(fixed_factors(measured.experiment, {by}), []).append(measured)
    options_go_with = by in WITH_OPTIONS
    shown = [
        name for name in naming_factors(experiments) if name != by and not (options_go_with and name.startswith(OPTION))
    ]
    pairs = [
        Pair(describe_factors(first, shown), (_name(first, by), _name(second, by)), (first, second), paired=True)
        for group in groups.values()
        for first, second in combinations(_base_first(group, by, base), 2)
        if base is None or first.experiment.factors[by] == base != second.experiment.factors[by]
    ]
    if not pairs:
        raise UsageError(
            f"no two experiments of the run differ in `{by}` alone",
            remedy=f"factors that vary: {', '.join(_varying(experiments))}",
        )
    return Pairs(tuple(pairs), ())


def _base_first(group: Sequence[ExperimentFindings], by: str, base: str | None) -> list[ExperimentFindings]:
    return sorted(
        group, key=lambda candidate: (candidate.experiment.factors[by] != base, candidate.experiment.factors[by])
    )


def _name(candidate: ExperimentFindings, by: str) -> str:
    """Its value of the factor, with the options that go with that."""
    factors = candidate.experiment.factors
    options = [f"{name.removeprefix(OPTION)}={v}" for name, v in factors.items() if name.startswith(OPTION)]
    options = options if by in WITH_OPTIONS else []
    return f"{factors[by]} ({', '.join(options)})" if options else factors[by]


def _varying(experiments: Sequence[ExperimentFindings]) -> list[str]:
    names = dict.fromkeys(name for candidate in experiments for name in candidate.experiment.factors)
    return [name for name in names if len({candidate.experiment.factors.get(name) for candidate in experiments}) > 1]


def naming_factors(experiments: Sequence[ExperimentFindings]) -> list[str]:
    """The factors that name a setting: those that vary, and always the middleware and the workload."""
    varying = _varying(experiments)
    return [name for name in experiments[0].experiment.factors if name in {"middleware", "workload", *varying}] + [
        name for name in varying if name not in experiments[0].experiment.factors
    ]


def describe_factors(candidate: ExperimentFindings, shown: Sequence[str]) -> str:
    """An experiment by these of its factors."""
    return " ".join(
        f"{name}={candidate.experiment.factors[name]}" for name in shown if name in candidate.experiment.factors
    )


def pair_with_base_runs(bases: Sequence[RunFindings], head: RunFindings) -> Pairs:
    """Pair each experiment of the head with itself in the runs of the base that have it."""
    name = bases[0].folder.path.name if len(bases) == 1 else f"{len(bases)} base runs"
    of_runs = [{candidate.experiment.id: candidate for candidate in run.comparable} for run in bases]
    of_base = {key: candidate for run in of_runs for key, candidate in run.items()}
    of_head = {candidate.experiment.id: candidate for candidate in head.comparable}
    common = sorted(of_base.keys() & of_head.keys())
    if not common:
        raise UsageError(
            "base and head have no experiment in common",
            remedy=f"they differ in {', '.join(differing_factors(of_base.values(), of_head.values()))}; "
            "give runs of one suite",
        )
    shown = naming_factors([of_head[key] for key in common])
    pairs = tuple(
        Pair(
            describe_factors(of_head[key], shown),
            (name, head.folder.path.name),
            (of_base[key], of_head[key]),
            paired=False,
            base_runs=tuple(run[key] for run in of_runs if key in run),
        )
        for key in common
    )
    of_all = naming_factors([*of_base.values(), *of_head.values()])
    gone = _only_in(name, of_base, of_head, of_all)
    return Pairs(pairs, (*gone, *_only_in(head.folder.path.name, of_head, of_base, of_all)), gone)


def _only_in(
    name: str,
    candidates: Mapping[str, ExperimentFindings],
    others: Mapping[str, ExperimentFindings],
    shown: Sequence[str],
) -> tuple[str, ...]:
    has = "have" if name.endswith("base runs") else "has"
    return tuple(
        f"only {name} {has} {describe_factors(candidate, shown)}"
        for key, candidate in candidates.items()
        if key not in others
    )


def check_alike(runs: Sequence[tuple[str, Manifest]], *, across_machines: bool = False) -> None:
    """Refuses runs of different suites or machines; each comes with the name by which it was given."""
    _check_each_once(runs)
    _check_one_kind([(name, manifest.suite) for name, manifest in runs], "suites", "give runs of one suite")
    if not across_machines:
        _check_one_kind(
            [(name, manifest.machine_identity) for name, manifest in runs],
            "machines",
            "give runs of one machine; with --across-machines, differences of machines count as differences of runs",
        )


def _check_each_once(runs: Sequence[tuple[str, Manifest]]) -> None:
    """Refuses a run that is given twice, as it would seem to agree with itself."""
    names: dict[tuple[str, int, str], str] = {}
    for name, manifest in runs:
        began = manifest.started_at, manifest.seed, manifest.suite_text
        if began in names:
            raise UsageError(f"{name} is the same run as {names[began]}", remedy="give each run once")
        names[began] = name


def _check_one_kind(named_values: Sequence[tuple[str, str]], subject: str, remedy: str) -> None:
    """The first run of each kind is named."""
    kinds = {value: name for name, value in reversed(named_values)}
    if len(kinds) > 1:
        listed = "; ".join(f"{name}: {value}" for value, name in reversed(kinds.items()))
        raise UsageError(f"the runs are of different {subject}: {listed}", remedy=remedy)
