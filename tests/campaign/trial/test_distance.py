"""Each trial tells how far apart the CPUs were on which its applications met, which stay awake from trial to trial."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import pytest

from middlemark.campaign.trial import environment
from middlemark.results.record import CpuDistance, TrialRecord
from middlemark.testbed.machine import wakefulness
from middlemark.testbed.machine.wakefulness import KeptAwake
from middlemark.testbed.processes.ledger import Ledger
from staged import suite_text

Campaign = Callable[..., list[TrialRecord]]


def test_a_trial_has_the_distance_before_it_and_after_it(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    told_ns = iter([77.0, 330.0])
    monkeypatch.setattr(environment, "cpu_distance_ns", lambda *_: next(told_ns))
    monkeypatch.setattr(environment, "meeting_cpus", lambda *_: (0, 1))
    (record,) = campaign(suite_text())
    assert record.cpu_distance == CpuDistance(cpus=(0, 1), before_ns=77, after_ns=330)


def test_a_trial_whose_distance_is_not_known_has_none(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "cpu_distance_ns", lambda *_: None)
    (record,) = campaign(suite_text())
    assert record.cpu_distance is None


def test_cpus_are_kept_awake_between_trials_too(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, kept_awake = [], wakefulness.kept_awake

    def noted(awake: Sequence[int], ledger: Ledger) -> AbstractContextManager[KeptAwake]:
        begun.append(awake)
        return kept_awake(awake, ledger)

    monkeypatch.setattr(wakefulness, "kept_awake", noted)
    records = campaign(suite_text(more="conditions: {keep_awake: true}").replace("trials: 1", "trials: 3"))
    assert [record.kept_awake is not None for record in records] == [True] * 3
    assert len(begun) == 1
