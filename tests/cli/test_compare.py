"""`middlemark compare`: runs and factors, what can be told and what can't, and errors that name what is missing."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from behaviour import Behaviour
from middlemark.cli.main import app
from middlemark.errors import StoreError, UsageError
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Delivery
from shared_runs import SharedRuns

SUITE = """
suite: {name}
trials: {trials}
middlewares: {middlewares}
workloads: [{{workload: {workload}, windows: {{window: 1 s}}}}]
"""
RUNNER = CliRunner()


def suite(workload: str = "imu", middlewares: str = "all", trials: int = 8) -> str:
    return SUITE.format(name="s", trials=trials, middlewares=middlewares, workload=workload)


def run(runs: SharedRuns, seed: int = 1, text: str = "", **behaviours: Behaviour) -> RunFolder:
    return runs.run(text or suite(), behaviours, seed=seed)


def verdicts(*arguments: str) -> dict[tuple[str, str, str], str]:
    answer = RUNNER.invoke(app, ["compare", *arguments, "--json"])
    assert answer.exit_code == 0, answer.exception
    said = json.loads(answer.stdout)
    return {(*each["sides"], each["figure"]): each["verdict"] for each in said["comparisons"]}


def test_two_runs_of_one_suite_are_compared_experiment_by_experiment(runs: SharedRuns) -> None:
    base = run(runs, 1, udp=Behaviour(latency_ns=50_000), tcp=Behaviour(latency_ns=80_000))
    head = run(runs, 2, udp=Behaviour(latency_ns=50_000), tcp=Behaviour(latency_ns=40_000))
    answer = RUNNER.invoke(app, ["compare", str(base.path), str(head.path), "--json", "--margin", "10"])
    found = {
        each["setting"]: each
        for each in json.loads(answer.stdout)["comparisons"]
        if each["figure"] == "median(latency)"
    }
    assert found["middleware=tcp workload=imu"]["verdict"] == "faster"
    assert found["middleware=tcp workload=imu"]["difference"]["value"] == pytest.approx(0.5, rel=0.1)
    assert found["middleware=tcp workload=imu"]["difference"]["test"].startswith("ratio of trials that share no block")
    assert found["middleware=udp workload=imu"]["verdict"] == "no significant difference"


def test_middlewares_of_one_run_are_compared_block_by_block(runs: SharedRuns) -> None:
    folder = run(runs, udp=Behaviour(latency_ns=50_000), tcp=Behaviour(latency_ns=80_000))
    found = verdicts(str(folder.path), "--by", "middleware")
    assert found["tcp", "udp", "median(latency)"] == "faster"
    assert found["tcp", "udp", "loss"] == "undecided"  # 1600 messages without a loss leave 0.2 % open
    assert (
        verdicts(str(folder.path), "--by", "middleware", "--base", "udp")["udp", "tcp", "median(latency)"] == "slower"
    )


def test_with_three_trials_a_small_difference_can_not_be_told(runs: SharedRuns) -> None:
    how = {"a": Behaviour(latency_ns=50_000, drift=0.2), "b": Behaviour(latency_ns=53_000, drift=0.2)}
    folder = run(runs, text=suite(trials=3), **how)
    assert verdicts(str(folder.path), "--by", "middleware")["a", "b", "median(latency)"] == "undecided"


def test_the_table_shows_both_sides_the_ratio_and_how_to_read_it(runs: SharedRuns) -> None:
    folder = run(runs, udp=Behaviour(latency_ns=50_000), tcp=Behaviour(latency_ns=80_000))
    answer = RUNNER.invoke(app, ["compare", str(folder.path), "--by", "middleware"], env={"COLUMNS": "140"})
    assert "udp /" in answer.stdout
    assert "faster" in answer.stdout
    assert "would show a difference by chance" in " ".join(answer.stdout.split())


def test_a_side_without_a_valid_trial_is_named_with_its_outcome(runs: SharedRuns) -> None:
    from middlemark.plan import Failed  # noqa: PLC0415

    failed = Failed(application="publisher_0", doing="starting", causes=("no memory",))
    folder = run(runs, udp=Behaviour(), tcp=Behaviour(outcome=failed))
    answer = RUNNER.invoke(app, ["compare", str(folder.path), "--by", "middleware", "--json"])
    (median,) = (e for e in json.loads(answer.stdout)["comparisons"] if e["figure"] == "median(latency)")
    assert (median["verdict"], median["reason"]) == (
        "faster",
        "one side could not keep up more often: failed in 8 of 8 trials, against none of 8 trials",
    )


def test_experiments_that_one_run_has_only_are_named(runs: SharedRuns, tmp_path: Path) -> None:
    base = runs.copy(tmp_path / "base", suite(), {"udp": Behaviour(), "tcp": Behaviour()})
    head = runs.copy(tmp_path / "head", suite(), {"udp": Behaviour()})
    answer = RUNNER.invoke(app, ["compare", str(base.path), str(head.path)])
    assert "only base has middleware=tcp" in answer.stdout


@pytest.mark.parametrize("words", [[], ["--by", "middleware"], ["other"]])
def test_a_folder_that_is_not_there_is_told_before_anything_else(tmp_path: Path, words: list[str]) -> None:
    ended = RUNNER.invoke(app, ["compare", str(tmp_path / "none"), *words])
    assert isinstance(ended.exception, StoreError)
    assert "none: the folder does not exist" in str(ended.exception)
    assert "--by" not in str(ended.exception)


def test_only_leaves_a_part_of_the_run(runs: SharedRuns) -> None:
    folder = run(runs, a=Behaviour(), b=Behaviour(), c=Behaviour())
    found = verdicts(str(folder.path), "--by", "middleware", "--only", "middleware=a,c", "--metric", "cpu")
    assert list(found) == [("a", "c", "cpu")]


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        ([], "--by middleware"),
        (["--by", "midleware"], "did you mean `middleware`"),
        (["--by", "workload"], "factors that vary: middleware"),
        (["--by", "middleware", "--base", "upd"], "did you mean `udp`"),
        (["--by", "middleware", "--figure", "p99(round_trip)"], "ping-pongs a round trip"),
        (["--base", "udp"], "--by middleware"),
    ],
    ids=[
        "one run",
        "a misspelt factor",
        "a factor of one value",
        "a misspelt base",
        "a figure of others",
        "a base alone",
    ],
)
def test_an_unknown_factor_or_value_is_refused_with_the_known_ones(
    runs: SharedRuns, arguments: list[str], remedy: str
) -> None:
    folder = run(runs, text=suite(trials=2), udp=Behaviour(), tcp=Behaviour())
    answer = RUNNER.invoke(app, ["compare", str(folder.path), *arguments])
    assert isinstance(answer.exception, UsageError)
    assert remedy in (answer.exception.remedy or "")


def test_runs_without_a_common_experiment_say_in_what_they_differ(runs: SharedRuns) -> None:
    base = run(runs, text=suite("imu", trials=2), udp=Behaviour())
    head = run(runs, text=suite("ping_pong", trials=2), udp=Behaviour())
    answer = RUNNER.invoke(app, ["compare", str(base.path), str(head.path)])
    assert isinstance(answer.exception, UsageError)
    assert "workload" in (answer.exception.remedy or "")


def test_sides_of_different_deliveries_are_said_to_differ(runs: SharedRuns) -> None:
    folder = run(runs, udp=Behaviour(), tcp=Behaviour(delivery=Delivery.OWN_THREAD))
    answer = RUNNER.invoke(app, ["compare", str(folder.path), "--by", "middleware"])
    assert "Deliveries differ: library_thread (udp); own_thread (tcp)." in answer.stdout
    data = RUNNER.invoke(app, ["compare", str(folder.path), "--by", "middleware", "--json"])
    assert {tuple(each["deliveries"]) for each in json.loads(data.stdout)["comparisons"]} == {
        ("own_thread", "library_thread")
    }


def test_sides_of_one_delivery_need_no_sentence(runs: SharedRuns) -> None:
    folder = run(runs, udp=Behaviour(), tcp=Behaviour())
    assert "Deliveries" not in RUNNER.invoke(app, ["compare", str(folder.path), "--by", "middleware"]).stdout
