"""`doctor`, `describe` and `clean`: for people and, with `--json`, for programs."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from middlemark.cli.main import app
from middlemark.cli.measure import run
from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.testbed import capabilities
from middlemark.testbed.machine import readiness
from middlemark.testbed.machine.readiness import Fact
from middlemark.testbed.processes import remote
from staged import own_machine

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_machine(tmp_path, monkeypatch)
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


def leave_out(tmp_path: Path) -> None:
    (tmp_path / "target/release").mkdir(parents=True)
    record = {"workers": [{"worker": "toy", "status": "left_out", "reason": "libtoy-dev is not installed"}]}
    (tmp_path / "target/release/middlemark-workers.json").write_text(json.dumps(record))


def test_doctor_shows_workers_what_is_left_out_and_the_machine(tmp_path: Path) -> None:
    leave_out(tmp_path)
    answer = RUNNER.invoke(app, ["doctor"])
    assert answer.exit_code == 0, answer.output
    lines = [line.split() for line in answer.stdout.splitlines()]
    assert any(line[:2] == ["✔", "fake"] for line in lines)
    assert any(line[:2] == ["✘", "toy"] for line in lines)
    assert "toy is left out: libtoy-dev is not installed" in answer.stdout
    assert "clock source" in answer.stdout


def test_doctor_shows_how_old_the_systems_programs_are() -> None:
    answer = RUNNER.invoke(app, ["doctor"])
    assert re.search(r"go-between 2\.0\.11 of 2021-06-09, \d+\.\d years old", answer.stdout), answer.stdout
    said = json.loads(RUNNER.invoke(app, ["doctor", "--json"]).stdout)
    assert [each["released"] for each in said["workers"]["fake"]["programs"]] == ["2021-06-09"]


def test_doctor_cuts_no_path_and_has_each_remedy_below_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    path = "/home/robot/middlemark/a-checkout-deep-within/target/release/middlemark-relay"
    busy = Fact("steal", "more than it should be", False, "use a dedicated machine, or one with fewer neighbours on it")
    monkeypatch.setattr(readiness, "facts", list)
    monkeypatch.setattr(capabilities, "facts", lambda: [Fact("relay", path, True), busy])
    monkeypatch.setenv("COLUMNS", "60")
    lines = [line.rstrip() for line in RUNNER.invoke(app, ["doctor"]).stdout.splitlines()]
    assert [line.split() for line in lines if path in line] == [["✔", "relay", path]]
    (at,) = [number for number, line in enumerate(lines) if line.endswith("more than it should be")]
    assert lines[at].startswith("  !   steal")
    indent = lines[at].index("more")
    below = [line[indent:] for line in lines[at + 1 : at + 3]]
    assert " ".join(below) == busy.remedy
    assert max(map(len, lines[at : at + 3])) <= 60


def test_doctor_for_programs_has_the_same(tmp_path: Path) -> None:
    leave_out(tmp_path)
    said = json.loads(RUNNER.invoke(app, ["doctor", "--json"]).stdout)
    assert said["workers"]["fake"]["path"] == str(tmp_path / "workers/middlemark-worker-fake")
    assert said["left_out"] == {"toy": "libtoy-dev is not installed"}
    assert {fact["name"] for fact in said["machine"]} >= {"governor", "rmem_max_bytes", "clock_cost_ns"}


def test_doctor_without_any_worker_ends_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "workers/middlemark-worker-fake").unlink()
    answer = RUNNER.invoke(app, ["doctor"])
    assert isinstance(answer.exception, EnvironmentNotReady)
    assert "make workers" in (answer.exception.remedy or "")


def test_describe_shows_every_option_with_its_values_and_default() -> None:
    answer = RUNNER.invoke(app, ["describe", "fake"])
    assert answer.exit_code == 0, answer.output
    assert "Passes messages over UDP" in answer.stdout
    assert "true, false" in answer.stdout
    said = json.loads(RUNNER.invoke(app, ["describe", "fake", "--json"]).stdout)
    options = {option["name"] for option in said["options"]}
    assert options == {"fault", "faulty", "brokered", "credentials", "keeps_security"}


def test_describe_shows_which_security_there_is_and_why_not() -> None:
    shown = " ".join(RUNNER.invoke(app, ["describe", "fake"]).stdout.split())
    assert "authenticated yes Shows a word." in shown
    assert "encrypted no It passes plain datagrams." in shown


def test_describe_refuses_an_unknown_name_with_the_known_ones() -> None:
    answer = RUNNER.invoke(app, ["describe", "nonesuch"])
    assert isinstance(answer.exception, EnvironmentNotReady)
    assert "there are: fake" in str(answer.exception)


def test_clean_removes_what_an_abandoned_ledger_lists_and_says_so(tmp_path: Path) -> None:
    assert "nothing was left" in RUNNER.invoke(app, ["clean"]).stdout
    left = tmp_path / "mm01aaaaaaaaaa"
    for arguments in (["clean"], ["clean", "--json"]):
        left.mkdir()
        path = tmp_path / "state/middlemark/ledgers/1-gone.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"op": "create", "mark": "a", "kind": "folder", "what": str(left)}) + "\n")
        answer = RUNNER.invoke(app, arguments)
        assert str(left) in answer.stdout
        assert not left.exists()
    assert json.loads(answer.stdout) == [{"kind": "folder", "what": str(left), "owner": "1-gone", "problem": None}]


def test_clean_tells_how_a_machine_that_is_gone_is_forgotten_and_forgets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_script(target: str, _: str) -> str:
        raise remote.Unanswered(f"{target}: Connection refused")

    monkeypatch.setattr(remote, "run_script", run_script)
    path = tmp_path / "state/middlemark/ledgers/1-gone.jsonl"
    path.parent.mkdir(parents=True)
    for arguments in ([], ["--json"]):
        entries = [
            {"mark": f"{n}", "kind": "remote_folder", "what": f"robot@gone:/tmp/mm-00000000000{n}"} for n in range(2)
        ]
        path.write_text("".join(json.dumps({"op": "create", **entry}) + "\n" for entry in entries))
        lines = RUNNER.invoke(app, ["clean"]).stdout.splitlines()
        assert lines[:2] == [
            f"not removed remote_folder: robot@gone:/tmp/mm-00000000000{n}: robot@gone: Connection refused"
            for n in range(2)
        ]
        assert len(lines) == 3
        assert lines[2].endswith("if that machine no longer exists: middlemark clean --forget robot@gone")
        answer = RUNNER.invoke(app, ["clean", "--forget", "robot@gone", *arguments])
        assert answer.exit_code == 0
        assert "nothing was left" in RUNNER.invoke(app, ["clean"]).stdout
    assert [each["what"] for each in json.loads(answer.stdout)] == [
        "robot@gone:/tmp/mm-000000000000",
        "robot@gone:/tmp/mm-000000000001",
    ]


def test_clean_forgets_nothing_that_is_not_entered() -> None:
    answer = RUNNER.invoke(app, ["clean", "--forget", "robot@gone"])
    assert isinstance(answer.exception, UsageError)
    assert "robot@gone" in str(answer.exception)


def test_a_run_says_first_what_is_out_of_reach_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_script(target: str, _: str) -> str:
        raise remote.Unanswered(f"{target}: Connection refused")

    went_on: list[Path] = []
    monkeypatch.setattr(remote, "run_script", run_script)
    path = tmp_path / "state/middlemark/ledgers/1-gone.jsonl"
    path.parent.mkdir(parents=True)
    entry = {"op": "create", "mark": "a", "kind": "remote_folder", "what": "robot@gone:/tmp/mm-00000000000a"}
    path.write_text(json.dumps(entry) + "\n")
    run.watched(lambda _: went_on.append(tmp_path / "run"), as_json=True)
    assert "middlemark clean --forget robot@gone" in capsys.readouterr().err
    assert went_on == [tmp_path / "run"]
