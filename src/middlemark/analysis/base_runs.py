"""Which runs of the base a head is held against: those of the same suite on the same machine, each of them once.

It pairs each experiment of the head with itself in those runs; `verdict.next_run` has the statistics. `pairing` pairs
two runs, and experiments of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.history import machine_of
from middlemark.analysis.pairing import Pair, Pairs, differing, telling, words
from middlemark.analysis.run import RunFindings
from middlemark.errors import UsageError
from middlemark.results.manifest import Manifest


def of_base_runs(bases: Sequence[RunFindings], head: RunFindings) -> Pairs:
    """Pair each experiment of the head with itself in the runs of the base that have it."""
    name = bases[0].folder.path.name if len(bases) == 1 else f"{len(bases)} base runs"
    of_runs = [{each.experiment.id: each for each in run.comparable} for run in bases]
    of_base = {key: each for run in of_runs for key, each in run.items()}
    of_head = {each.experiment.id: each for each in head.comparable}
    common = sorted(of_base.keys() & of_head.keys())
    if not common:
        raise UsageError(
            "base and head have no experiment in common",
            remedy=f"they differ in {', '.join(differing(of_base.values(), of_head.values()))}; give runs of one suite",
        )
    shown = telling([of_head[key] for key in common])
    pairs = tuple(
        Pair(
            words(of_head[key], shown),
            (name, head.folder.path.name),
            (of_base[key], of_head[key]),
            paired=False,
            base_runs=tuple(run[key] for run in of_runs if key in run),
        )
        for key in common
    )
    of_all = telling([*of_base.values(), *of_head.values()])
    gone = _only(name, of_base, of_head, of_all)
    return Pairs(pairs, (*gone, *_only(head.folder.path.name, of_head, of_base, of_all)), gone)


def _only(
    name: str, own: Mapping[str, ExperimentFindings], others: Mapping[str, ExperimentFindings], shown: Sequence[str]
) -> tuple[str, ...]:
    has = "have" if name.endswith("base runs") else "has"
    return tuple(f"only {name} {has} {words(each, shown)}" for key, each in own.items() if key not in others)


def check_alike(runs: Sequence[tuple[str, Manifest]], *, across_machines: bool = False) -> None:
    """Refuse runs, each with the name that it was given by, that differ in more than what is judged."""
    _check_each_once(runs)
    _check_one([(name, manifest.suite) for name, manifest in runs], "suites", "give runs of one suite")
    if not across_machines:
        _check_one(
            [(name, machine_of(manifest)) for name, manifest in runs],
            "machines",
            "give runs of one machine; with --across-machines their difference counts as one between runs",
        )


def _check_each_once(runs: Sequence[tuple[str, Manifest]]) -> None:
    """A run and its copy would seem to agree."""
    names: dict[tuple[str, int, str], str] = {}
    for name, manifest in runs:
        began = manifest.started_at, manifest.seed, manifest.suite_text
        if began in names:
            raise UsageError(f"{name} is the same run as {names[began]}", remedy="give each run once")
        names[began] = name


def _check_one(found: Sequence[tuple[str, str]], what: str, remedy: str) -> None:
    """The first run of each kind is named."""
    kinds = {value: name for name, value in reversed(found)}
    if len(kinds) > 1:
        said = "; ".join(f"{name}: {value}" for value, name in reversed(kinds.items()))
        raise UsageError(f"the runs are of different {what}: {said}", remedy=remedy)
