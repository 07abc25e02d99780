"""A reader is warned where the host moved the CPUs between the trials of a run, or within one."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from behaviour import Behaviour
from middlemark.analysis.experiment.distance import Distances, distances
from middlemark.analysis.run import RunFindings, analyse
from middlemark.plan import Caution, WarningKind
from middlemark.results.record import CpuDistance
from shared_runs import SharedRuns

SUITE = """
suite: apart
trials: 3
middlewares: all
workloads: {workload: imu, windows: {window: 1 s}}
"""
NEAR, FAR, BETWEEN = (77.0, 85.0), (330.0, 342.0), (80.0, 331.0)
Seen = Mapping[str, list[tuple[float, float]]]


def analysed(runs: SharedRuns, path: Path, seen: Seen, testbeds: Mapping[str, str] | None = None) -> RunFindings:
    """A run whose trials had their CPUs so far apart before and after them, by middleware."""
    run = runs.copy(path / "run", SUITE, {name: Behaviour() for name in seen})
    left = {name: iter(values) for name, values in seen.items()}
    for trial in run.stored_trials():
        record = trial.read_record()
        middleware = record.trial.experiment.middleware
        before_ns, after_ns = next(left[middleware])
        apart = CpuDistance(cpus=(0, 1), before_ns=before_ns, after_ns=after_ns)
        testbed = (testbeds or {}).get(middleware)
        trial.write_record(record.model_copy(update={"cpu_distance": apart, "testbed": testbed}))
    return analyse(run)


def moved(found: RunFindings) -> dict[str, tuple[Caution, int]]:
    """By middleware."""
    return {
        candidate.experiment.middleware: (caution, count)
        for candidate in found.experiments
        for caution, count in candidate.cautions
        if caution.kind is WarningKind.CPUS_MOVED
    }


def test_trials_that_were_nearer_or_farther_than_usual_in_the_run_are_counted(runs: SharedRuns, tmp_path: Path) -> None:
    warned = moved(analysed(runs, tmp_path, {"one": [NEAR, NEAR, NEAR], "two": [FAR, NEAR, BETWEEN]}))
    assert warned.keys() == {"two"}
    caution, count = warned["two"]
    assert count == 2
    assert (
        "took 330 ns from CPU 0 to CPU 1 and back before the trial, 342 ns after it, and usually 85 ns" in caution.text
    )
    warned = moved(analysed(runs, tmp_path / "far", {"one": [FAR, FAR, FAR], "two": [FAR, NEAR, FAR]}))
    assert {middleware: count for middleware, (_, count) in warned.items()} == {"two": 1}


@pytest.mark.parametrize("where", [NEAR, FAR])
def test_where_nothing_moved_nothing_is_said(runs: SharedRuns, tmp_path: Path, where: tuple[float, float]) -> None:
    assert moved(analysed(runs, tmp_path, {"one": [where] * 3, "two": [where] * 3})) == {}


def test_each_test_bed_of_a_fleet_has_distances_of_its_own(runs: SharedRuns, tmp_path: Path) -> None:
    seen: Seen = {"one": [NEAR] * 3, "two": [FAR] * 3}
    assert moved(analysed(runs, tmp_path, seen, {"one": "left", "two": "right"})) == {}


def test_the_nearest_the_median_and_the_farthest_are_told(runs: SharedRuns, tmp_path: Path) -> None:
    found = analysed(runs, tmp_path, {"one": [NEAR, NEAR, FAR]})
    assert distances(found.experiments[0].records) == (Distances((0, 1), 77, 85, 342),)
