"""How far apart the CPUs were on which applications met, over the trials of a run.

The host of a virtual machine may move its CPUs, which changes what two of them do together by up to four times. Only
the warning is made here: no value is corrected, and no trial left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.plan import Caution, WarningKind
from middlemark.results.record import TrialRecord

MOST_CHANGE = 1.3
"""Of the farthest to the nearest that are still one distance: 1.16 was seen while nothing moved, 4 where CPUs moved."""
_Pair = tuple[str | None, tuple[int, int]]
"""Two CPUs of a machine: on a fleet each test-bed has its own."""


@dataclass(frozen=True)
class Distances:
    """What a cache line took from one CPU to the other and back, over trials, before and after each."""

    cpus: tuple[int, int]
    nearest_ns: float
    median_ns: float
    farthest_ns: float


def is_one_distance(distances_ns: Sequence[float]) -> bool:
    """Whether CPUs that were so far apart, at one time and another, were not moved between."""
    return max(distances_ns) <= MOST_CHANGE * min(distances_ns)


def distances(records: Iterable[TrialRecord]) -> tuple[Distances, ...]:
    """Of each pair of CPUs on each machine."""
    return tuple(_over_trials(records).values())


def _over_trials(records: Iterable[TrialRecord]) -> dict[_Pair, Distances]:
    seen_ns: dict[_Pair, list[float]] = {}
    for record in records:
        if (apart := record.cpu_distance) is not None:
            seen_ns.setdefault((record.testbed, apart.cpus), []).extend([apart.before_ns, apart.after_ns])
    return {pair: Distances(pair[1], min(all_ns), median(all_ns), max(all_ns)) for pair, all_ns in seen_ns.items()}


def with_distance_cautions(findings: Sequence[ExperimentFindings]) -> list[ExperimentFindings]:
    """The experiments, with a warning more where CPUs were nearer or farther in a trial than usual in the run."""
    usual = _over_trials(record for candidate in findings for record in candidate.records)
    return [_warned(candidate, usual) for candidate in findings]


def _warned(candidate: ExperimentFindings, usual: Mapping[_Pair, Distances]) -> ExperimentFindings:
    cautions = [caution for record in candidate.records if (caution := _caution(record, usual)) is not None]
    if not cautions:
        return candidate
    return replace(candidate, cautions=(*candidate.cautions, (cautions[0], len(cautions))))


def _caution(record: TrialRecord, usual: Mapping[_Pair, Distances]) -> Caution | None:
    apart = record.cpu_distance
    if apart is None:
        return None
    usual_ns = usual[record.testbed, apart.cpus].median_ns
    if is_one_distance((apart.before_ns, apart.after_ns, usual_ns)):
        return None
    first, second = apart.cpus
    text = (
        f"a cache line took {apart.before_ns:.0f} ns from CPU {first} to CPU {second} and back before the trial, "
        f"{apart.after_ns:.0f} ns after it, and usually {usual_ns:.0f} ns in this run: the host moves the CPUs of this "
        "virtual machine, and times of a few microseconds with them"
    )
    remedy = "run more trials, so that these decide nothing, or use a machine whose CPUs stay where they are"
    return Caution(kind=WarningKind.CPUS_MOVED, text=text, remedy=remedy)
