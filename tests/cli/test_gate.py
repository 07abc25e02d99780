"""`middlemark gate`: exit codes, and what CI reads."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner, Result

from middlemark.cli.main import app
from middlemark.errors import ResultsNotAccepted, UsageError
from middlemark.plan import NoCommunication
from middlemark.plan.outcome import MissingPath
from middlemark.results.run_folder import RunFolder
from run_builder import Behaviour, build_run

SUITE = "suite: s\ntrials: 8\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 1 s}}]\n"
SLOWER = "median(latency) > +5 %"


def run(path: Path, seed: int, **behaviours: Behaviour) -> RunFolder:
    return build_run(path, SUITE, behaviours, seed=seed)


def gate(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["gate", *map(str, arguments)], env={"COLUMNS": "160"})


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return run(tmp_path / "base", 1, udp=Behaviour(latency_ns=50_000)).path


def head(base: Path, **how: float) -> Path:
    return run(base.parent / "head", 2, udp=Behaviour(**{"latency_ns": 50_000, **how})).path  # type: ignore[arg-type]


def test_what_got_surely_slower_fails_and_the_exit_code_says_so(base: Path) -> None:
    answer = gate(base, head(base, latency_ns=60_000), "--fail-if", SLOWER)
    assert isinstance(answer.exception, ResultsNotAccepted)
    assert answer.exception.exit_code == 1
    assert "1 of 1 condition failed" in answer.stdout


def test_equals_pass_a_bound_that_the_interval_keeps_clear_of(base: Path) -> None:
    answer = gate(base, head(base), "--fail-if", "median(latency) > +20 %", "--fail-if", "loss > +1 pp")
    assert answer.exit_code == 0, answer.output
    assert "0 of 2 conditions failed, 2 passed" in answer.stdout


def test_noise_alone_decides_nothing_and_passes_only_where_that_is_asked_for(base: Path) -> None:
    noisy = head(base, drift=0.3)
    answer = gate(base, noisy, "--fail-if", SLOWER)
    assert "1 undecided" in answer.stdout
    assert isinstance(answer.exception, ResultsNotAccepted)
    assert "--undecided pass" in (answer.exception.remedy or "")
    assert gate(base, noisy, "--fail-if", SLOWER, "--undecided", "pass").exit_code == 0


def test_a_value_of_head_alone_has_a_bound_too(base: Path) -> None:
    slow = head(base, latency_ns=60_000)
    assert gate(base, slow, "--fail-if", "median(latency) > 100 µs").exit_code == 0
    assert isinstance(gate(base, slow, "--fail-if", "median(latency) > 55 µs").exception, ResultsNotAccepted)


def test_a_head_that_no_longer_communicates_fails(base: Path) -> None:
    silent = NoCommunication(missing=(MissingPath(stream="imu", publisher=0, subscriber=0),))
    broken = run(base.parent / "head", 2, udp=Behaviour(outcome=silent)).path
    answer = gate(base, broken, "--fail-if", SLOWER, "--json")
    (said,) = json.loads(answer.stdout)["conditions"]
    assert (said["decision"], said["reason"]) == (
        "failed",
        "the sides could not keep up equally often: none of 8 trials, against no communication in 8 of 8 trials",
    )


def test_junit_and_markdown_tell_failed_passed_and_undecided(base: Path, tmp_path: Path) -> None:
    other = head(base, latency_ns=60_000)
    conditions = [SLOWER, "median(latency) > 100 µs", "median(latency) > +20 %"]
    asked = [part for each in conditions for part in ("--fail-if", each)]
    gate(base, other, *asked, "--junit", tmp_path / "out" / "gate.xml", "--markdown", tmp_path / "gate.md")
    suite = ET.parse(tmp_path / "out" / "gate.xml").getroot().find("testsuite")  # noqa: S314 - our own
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    names = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
    assert names == {conditions[0]: ["failure"], conditions[1]: ["system-out"], conditions[2]: ["skipped"]}
    text = (tmp_path / "gate.md").read_text(encoding="utf-8")
    assert text.startswith("## Middlemark: ❌ 1 of 3 conditions failed, 1 passed, 1 undecided")
    assert "| middleware=udp workload=imu | imu median(latency)" in text


@pytest.mark.parametrize(("undecided", "mark"), [("pass", "❔"), ("fail", "❌")])
def test_the_headline_has_no_tick_where_something_is_undecided(
    base: Path, tmp_path: Path, mark: str, undecided: str
) -> None:
    asked = ["--fail-if", SLOWER, "--markdown", tmp_path / "gate.md", "--undecided", undecided]
    answer = gate(base, head(base, drift=0.3), *asked)
    assert (answer.exception is None) is (undecided == "pass")
    assert (tmp_path / "gate.md").read_text(encoding="utf-8").startswith(f"## Middlemark: {mark} 0 of 1")


def test_an_experiment_that_head_lacks_is_told_and_undecided(tmp_path: Path) -> None:
    quick = Behaviour(latency_ns=50_000)
    both, one = run(tmp_path / "base", 1, udp=quick, tcp=quick).path, run(tmp_path / "head", 2, udp=quick).path
    asked = ["--fail-if", "median(latency) > +20 %", "--junit", tmp_path / "gate.xml"]
    assert gate(both, one, *asked, "--undecided", "pass").exit_code == 0
    text = (tmp_path / "gate.xml").read_text(encoding="utf-8")
    assert text.count("<skipped") == 1
    assert "only base has" in text
    refused = gate(both, one, *asked).exception
    assert isinstance(refused, ResultsNotAccepted)
    assert "middleware=tcp" in str(refused)
    assert gate(one, both, *asked).exit_code == 0


def test_base_and_head_may_have_taken_turns_in_one_run(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", 1, old=Behaviour(latency_ns=50_000), new=Behaviour(latency_ns=60_000)).path
    answer = gate(folder, "--by", "middleware", "--base", "old", "--fail-if", SLOWER)
    assert isinstance(answer.exception, ResultsNotAccepted)
    assert "new against old, workload=imu\n" in answer.stdout


def test_a_condition_that_nothing_can_meet_is_a_mistake(base: Path) -> None:
    answer = gate(base, head(base), "--fail-if", "p99(round_trip) > +5 %")
    assert isinstance(answer.exception, UsageError)
