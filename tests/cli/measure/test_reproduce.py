"""`middlemark reproduce` as a user has it: the plan, the run, its report, and how it goes on."""

import json
from pathlib import Path

import pytest

from command_line import middlemark
from middlemark.errors import ExitCode
from staged import own_machine
from staged_paper import stage_paper


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_machine(tmp_path, monkeypatch)
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    monkeypatch.chdir(tmp_path)
    stage_paper(tmp_path / "paper")


def test_a_dry_run_says_what_runs_what_can_not_and_what_stays_open() -> None:
    done = middlemark("reproduce", "paper", "--dry-run")
    assert done.returncode == ExitCode.OK, done.stderr
    words = " ".join(done.stdout.split())
    assert "3 trials, about 0 min 02 s" in words
    assert "not here: other: " in words
    assert "not here: elsewhere: none of its middlewares is installed" in words
    assert "finding 1 can't hold: 2 of 2 claims are not measured so" in words
    assert "finding 3 stays undecided: A study with people would decide it." in words
    assert not Path("runs").exists()


def test_the_plan_says_what_needs_more_machines() -> None:
    suite = Path("paper/messages.yaml")
    suite.write_text(suite.read_text() + "topologies: [C1-1, D1-1]\n")
    Path("hosts.yaml").write_text("machines: [{ssh: car}]\n", encoding="utf-8")
    done = middlemark("reproduce", "paper", "--dry-run", "--hosts", "hosts.yaml")
    reason = "not here: messages, D1-1: it has 2 hosts, and the inventory has 1 machine"
    assert reason in " ".join(done.stdout.split())
    assert "3 trials, about" in done.stdout


def test_the_plan_is_data_too() -> None:
    planned = json.loads(middlemark("reproduce", "paper", "--full", "--dry-run", "--json").stdout)
    assert planned["suites"] == {"messages": {"experiments": 2, "trials": 8}}
    assert planned["claims_not_measured"] == {"1": 2, "2": 0, "3": 0}


def test_the_plan_says_what_a_worker_refuses_and_counts_no_time_for_it() -> None:
    suite = Path("paper/messages.yaml")
    before = json.loads(middlemark("reproduce", "paper", "--full", "--dry-run", "--json").stdout)
    flood = "workloads:\n  - {workload: flood, pattern: unthrottled, size: 100 B, messages: 1000}\n"
    suite.write_text(suite.read_text().replace("workloads:\n", flood))
    planned = json.loads(middlemark("reproduce", "paper", "--full", "--dry-run", "--json").stdout)
    assert planned["refused"] == {"messages": {"fake: unthrottled: only periodic streams": 1}}
    assert planned["suites"] == {"messages": {"experiments": 3, "trials": 12}}
    assert planned["seconds"] == before["seconds"]
    words = " ".join(middlemark("reproduce", "paper", "--full", "--dry-run").stdout.split())
    assert "not applicable: messages, fake, 1 experiment: unthrottled: only periodic streams" in words


def test_a_paper_is_run_judged_and_reported_and_made_again_from_what_is_stored() -> None:
    done = middlemark("reproduce", "paper")
    assert done.returncode == ExitCode.OK, done.stderr
    (folder,) = Path("runs").iterdir()
    assert folder.name.startswith("staged-quick-")
    assert "of 3 findings hold" in done.stdout
    assert f"report: {folder / 'report.html'}" in done.stdout
    (folder / "report.html").unlink()
    again = middlemark("reproduce", "--resume", folder, "--json")
    assert again.returncode == ExitCode.OK, again.stderr
    first, second, third = (each["judgement"] for each in json.loads(again.stdout)["findings"])
    assert (first, third) == ("undecided", "undecided")
    assert second != "refuted"  # a busy machine may leave fewer than three valid trials
    assert (folder / "report.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "no paper is named"),
        (("unknown",), "neither a paper that ships nor a folder"),
        (("paper", "--resume", "runs"), "--resume continues what was planned"),
        (("--resume", "runs"), "the folder does not exist"),
    ],
)
def test_a_mistake_is_told(arguments: tuple[str, ...], problem: str) -> None:
    done = middlemark("reproduce", *arguments)
    assert done.returncode in {ExitCode.USAGE, ExitCode.ENVIRONMENT}
    assert problem in done.stderr
