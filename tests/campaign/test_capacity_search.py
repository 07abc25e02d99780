"""A capacity search that is interrupted goes on where it was, on both sides: no trial twice, and the same answer."""

import os
import signal
from pathlib import Path

import pytest

from middlemark.analysis.run import analyse
from middlemark.analysis.search.capacity import State
from middlemark.campaign.campaign import resume_run, run_new
from middlemark.campaign.order import order_suite
from middlemark.errors import Interrupted
from middlemark.plan import Side
from middlemark.plan.schedule import Load
from middlemark.results.progress import Event, TrialStarted
from middlemark.results.run_folder import RunFolder
from middlemark.suite import LoadedSuite, parse_suite
from staged import install_worker_that_carries, suite_text

SEARCH = "{lowest: 20 Hz, highest: 200 Hz, precision: 50 %, latency: 1 s, confirm: 1}"
TEXT = suite_text().replace(
    "workloads: [", f"workloads: [{{workload: stream, pattern: capacity, size: 100 B, search: {SEARCH}}}, "
)


class Impatient:
    """Presses Ctrl-C as soon as a third trial begins."""

    def __init__(self) -> None:
        self.started = 0

    def observe(self, event: Event) -> None:
        self.started += isinstance(event, TrialStarted)
        if isinstance(event, TrialStarted) and self.started == 3:
            os.kill(os.getpid(), signal.SIGINT)


def stored(run: RunFolder) -> dict[str, int]:
    return {folder.id: folder.record_path.stat().st_mtime_ns for folder in run.stored_trials()}


def test_searches_interrupted_repeatedly_repeat_no_trial_and_find_the_capacity(tmp_path: Path) -> None:
    install_worker_that_carries(50, tmp_path / "workers")
    install_worker_that_carries(80, tmp_path / "base")
    loaded = LoadedSuite(file="staged.yaml", text=TEXT, suite=parse_suite(TEXT, file="staged.yaml"))
    run, known = RunFolder(tmp_path / "run"), dict[str, int]()
    with pytest.raises(Interrupted):
        run_new(run.path, order_suite(loaded, [], 2, [tmp_path / "base"]), Impatient())
    for _ in range(20):
        now = stored(run)
        assert len(now) > len(known)
        assert now.items() >= known.items()
        known = now
        try:
            resume_run(run.path, Impatient(), against=[tmp_path / "base"])
        except Interrupted:
            continue
        break
    assert [trial.id for trial in run.read_manifest().trials] == list(stored(run))
    findings = analyse(run)
    found = {each.experiment.side: each for each in findings.capacities}
    assert {side: (each.state, each.sustained, each.n_trials) for side, each in found.items()} == {
        Side.HEAD: (State.FOUND, Load(45.0, 100), 4),
        Side.BASE: (State.FOUND, Load(67.5, 100), 4),
    }
    planned = run.read_manifest().trials
    assert tuple(folder.read_record().trial for folder in run.stored_trials()) == planned
    assert {trial.step.search for trial in planned if trial.step} == {1}
    assert len(stored(run)) == 12  # beside the searches, two trials of each side at the given rate
