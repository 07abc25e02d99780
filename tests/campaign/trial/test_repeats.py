"""A trial that the machine disturbed is tried again, at once and at the end of the campaign, and what is told of it."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from middlemark.campaign import campaign as campaigns
from middlemark.campaign import local
from middlemark.campaign.progress import CampaignTrials
from middlemark.campaign.trial.record import FinishedTrial
from middlemark.plan import Invalid, InvalidKind, InvalidReason, Outcome, Trial, Valid
from middlemark.results.progress import Event, StepReached
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.testbed.machine import cpu_load, wakefulness
from middlemark.testbed.processes import cgroup, ledger
from middlemark.testbed.processes.procfs import has_ended
from staged import placed, suite_text

STOLEN = Invalid(reasons=(InvalidReason(kind=InvalidKind.STEAL, text="the hypervisor took half"),))
MANY = suite_text(more="disturbance: {repeats: 1}").replace("trials: 1", "trials: 20")


def disturbed(monkeypatch: pytest.MonkeyPatch, outcome_of: Callable[[int, int], Outcome]) -> list[tuple[int, int]]:
    """Has each attempt end in this outcome of its trial's number and its own; gives them in the order they are made."""
    made = []

    async def run_trial(trial: Trial, _resources: object, _folder: object, attempt: int, _: object) -> FinishedTrial:
        made.append((trial.number, attempt))
        return FinishedTrial(TrialRecord(trial=trial, outcome=outcome_of(trial.number, attempt), attempt=attempt))

    monkeypatch.setattr(local, "run_trial", run_trial)
    return made


def test_few_disturbed_trials_are_tried_once_more_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = disturbed(monkeypatch, lambda number, attempt: STOLEN if number == 3 and attempt <= 2 else Valid())
    campaigns.run_new(tmp_path / "run", placed(MANY))
    assert made[-1] == (3, 3)
    assert [attempt for number, attempt in made if number == 3] == [1, 2, 3]
    (record,) = [each for each in records(tmp_path) if each.trial.number == 3]
    assert (record.outcome, record.attempt) == (Valid(), 3)
    assert [each.kind for each in record.warnings] == ["repeated"]
    assert "2 attempts disturbed; then repeated at the end" in record.warnings[0].text


def test_a_trial_that_is_disturbed_at_the_end_too_stays_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = disturbed(monkeypatch, lambda number, _: STOLEN if number == 3 else Valid())
    campaigns.run_new(tmp_path / "run", placed(MANY))
    assert [attempt for number, attempt in made if number == 3] == [1, 2, 3]
    assert [each.outcome for each in records(tmp_path) if each.trial.number == 3] == [STOLEN]
    campaigns.resume_run(tmp_path / "run")
    assert [attempt for number, attempt in made if number == 3] == [1, 2, 3], "it has had its last attempt"


def test_on_a_machine_that_disturbs_many_trials_none_is_tried_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = disturbed(monkeypatch, lambda number, _: STOLEN if number in {3, 5, 8} else Valid())
    campaigns.run_new(tmp_path / "run", placed(MANY))
    assert max(attempt for _, attempt in made) == 2


def test_a_campaign_that_is_resumed_before_its_last_attempts_makes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = disturbed(monkeypatch, lambda number, attempt: STOLEN if number == 3 and attempt <= 2 else Valid())
    with monkeypatch.context() as patched:
        patched.setattr(CampaignTrials, "to_repeat", lambda *_: [])
        campaigns.run_new(tmp_path / "run", placed(MANY))
    campaigns.resume_run(tmp_path / "run")
    assert made[-1] == (3, 3)
    assert {each.outcome for each in records(tmp_path)} == {Valid()}


class Killer:
    """Kills what keeps CPUs awake, or busy, just before the first attempt measures."""

    def __init__(self, keeps: str = "awake") -> None:
        self.keeps = keeps
        self.killed: list[int] = []

    def observe(self, event: Event) -> None:
        if isinstance(event, StepReached) and event.step == "measuring" and not self.killed:
            listed = [entry for path in ledger_files() for entry in ledger.read(path)]
            self.killed = [each.process.pid for each in listed if each.process and self.keeps in str(each.what)]
            spinners = [psutil.Process(pid) for pid in self.killed]
            for spinner in spinners:
                # In the idle class it would end only when nothing else wants its CPU.
                os.sched_setscheduler(spinner.pid, os.SCHED_OTHER, os.sched_param(0))
                spinner.kill()
            deadline = time.monotonic() + 60
            while not all(map(has_ended, spinners)) and time.monotonic() < deadline:
                os.sched_yield()


def ledger_files() -> list[Path]:
    return list(Path(os.environ["XDG_STATE_HOME"], "middlemark/ledgers").iterdir())


@pytest.fixture
def spinners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CPUs are kept awake by processes, which are in no control group."""
    monkeypatch.setattr(wakefulness, "CPU_DMA_LATENCY", tmp_path / "no such" / "device")
    monkeypatch.setattr(cgroup, "hierarchies", dict)


@pytest.mark.usefixtures("spinners")
def test_a_trial_whose_condition_ended_early_is_repeated(campaign: Callable[..., list[TrialRecord]]) -> None:
    killer = Killer()
    (record,) = campaign(suite_text(more="conditions: [{keep_awake: true}]\ndisturbance: {steal: 100 %}"), killer)
    assert killer.killed
    assert (record.outcome, record.attempt) == (Valid(), 2)


@pytest.mark.usefixtures("spinners")
def test_a_trial_whose_condition_ended_early_does_not_count(campaign: Callable[..., list[TrialRecord]]) -> None:
    suite = suite_text(more="conditions: [{keep_awake: true}]\ndisturbance: {steal: 100 %, repeats: 0}")
    (record,) = campaign(suite, Killer())
    assert isinstance(record.outcome, Invalid)
    assert {each.kind for each in record.outcome.reasons} == {InvalidKind.CONDITION}
    assert record.outcome.reasons[0].text.endswith("awake, ended before the trial did")


@pytest.mark.skipif(shutil.which(cpu_load.PROGRAM) is None, reason="stress-ng is not installed")
def test_a_trial_whose_cpu_load_ended_early_does_not_count(campaign: Callable[..., list[TrialRecord]]) -> None:
    killer = Killer("busy")
    suite = suite_text(more="conditions: [{cpu_load: 40 %}]\ndisturbance: {steal: 100 %, repeats: 0}")
    (record,) = campaign(suite, killer)
    assert killer.killed
    assert isinstance(record.outcome, Invalid)
    assert {each.kind for each in record.outcome.reasons} == {InvalidKind.CONDITION}
    assert "busy to 40 %" in record.outcome.reasons[0].text


def records(tmp_path: Path) -> list[TrialRecord]:
    return [folder.read_record() for folder in RunFolder(tmp_path / "run").stored_trials()]
