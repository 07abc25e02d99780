"""What a worker refuses is known before anything is run; the fake worker refuses all but periodic streams."""

from collections import Counter
from pathlib import Path

import pytest

from middlemark.campaign.checks.refusals import refusals
from middlemark.plan import Trial, plan_trials
from middlemark.suite import parse_suite
from middlemark.worker.available import available_workers
from staged import own_machine

SUITE = """
suite: asked
trials: 3
middlewares: {{middleware: fake, options: {options}}}
workloads:
  - {{workload: imu, rate: 200 Hz, size: 100 B}}
  - {{workload: flood, pattern: unthrottled, size: 100 B, messages: 1000}}
topologies: [C1-1, {{topology: D1-1, link: {{rate: 1 Gbit/s}}}}]
conditions: [{{}}, {{cpu_load: 50 %}}]
"""


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_machine(tmp_path, monkeypatch)


def trials(options: str = "{}") -> tuple[Trial, ...]:
    return tuple(plan_trials(parse_suite(SUITE.format(options=options), file="asked.yaml"), available=["fake"]))


def test_each_experiment_that_its_worker_refuses_has_the_workers_reason() -> None:
    planned = trials()
    workers, _ = available_workers()
    reasons = refusals(planned, workers)
    assert {reason.detail for reason in reasons.values()} == {"pattern: unthrottled: only periodic streams"}
    workloads = Counter(
        {trial.experiment.id: trial.experiment.workload for trial in planned if trial.experiment.id in reasons}.values()
    )
    assert workloads == {"flood": 2 * 2}


def test_specs_that_are_alike_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    module = "middlemark.campaign.checks.refusals"
    monkeypatch.setattr(f"{module}._answer", lambda _worker, spec: asked.append(spec))
    assert refusals(trials(), available_workers()[0]) == {}
    assert len(asked) == len(set(asked)) == 2 * 2  # workloads and topologies; no worker knows of a CPU load


@pytest.mark.parametrize("fault", ["dies_before_armed", "writes_junk"])
def test_a_worker_that_gives_no_answer_refuses_nothing(fault: str) -> None:
    planned = [
        trial for trial in trials(f"{{fault: {fault}, faulty: publisher_0}}") if trial.experiment.workload == "imu"
    ]
    assert refusals(planned, available_workers()[0]) == {}
