"""`middlemark gate`: exit codes, and what CI reads."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner, Result

from behaviour import Behaviour
from middlemark.analysis.compare.pairing import Pairs
from middlemark.cli.main import app
from middlemark.errors import ResultsNotAccepted, UsageError
from middlemark.plan import NoCommunication, Outcome
from middlemark.plan.trial.outcome import MissingPath
from middlemark.report.conclusions.gate import junit, markdown
from middlemark.report.output.data import recompute_metrics
from middlemark.results.run_folder import RunFolder
from shared_runs import SharedRuns

SUITE = "suite: s\ntrials: 8\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 1 s}}]\n"
SLOWER = "median(latency) > +5 %"


def run(runs: SharedRuns, seed: int, **behaviours: Behaviour) -> Path:
    return runs.run(SUITE, behaviours, seed=seed).path


def measured(runs: SharedRuns, path: Path, seed: int, **behaviours: Behaviour) -> Path:
    """One whose metrics are stored, as a campaign stores them: it is read many times."""
    folder = runs.copy(path, SUITE, behaviours, seed=seed)
    recompute_metrics(folder)
    return folder.path


def gate(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["gate", *map(str, arguments)], env={"COLUMNS": "160"})


@pytest.fixture(scope="module")
def base(runs: SharedRuns, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Five runs that differ by some percent from one to the next."""
    levels, path = (50_000, 51_000, 49_500, 50_500, 49_000), tmp_path_factory.mktemp("runs")
    return [measured(runs, path / f"base_{n}", n, udp=Behaviour(latency_ns=each)) for n, each in enumerate(levels, 1)]


@pytest.fixture
def head(runs: SharedRuns, tmp_path: Path) -> Callable[..., Path]:
    def built(latency_ns: float = 50_000, **how: Outcome) -> Path:
        return runs.copy(tmp_path / "head", SUITE, {"udp": Behaviour(latency_ns=latency_ns, **how)}, seed=9).path

    return built


def test_what_got_surely_slower_fails_and_the_exit_code_says_so(base: list[Path], head: Callable[..., Path]) -> None:
    answer = gate(*base, head(latency_ns=60_000), "--fail-if", SLOWER)
    assert isinstance(answer.exception, ResultsNotAccepted)
    assert answer.exception.exit_code == 1
    assert "1 of 1 condition failed" in answer.stdout


def test_equals_pass_a_bound_that_the_interval_keeps_clear_of(base: list[Path], head: Callable[..., Path]) -> None:
    answer = gate(*base, head(), "--fail-if", "median(latency) > +20 %", "--fail-if", "loss > +1 pp")
    assert answer.exit_code == 0, answer.output
    assert "0 of 2 conditions failed, 2 passed" in answer.stdout


def test_noise_alone_is_undecided_and_passes_only_with_undecided_pass(
    base: list[Path], head: Callable[..., Path]
) -> None:
    noisy = head(latency_ns=52_000)
    answer = gate(*base, noisy, "--fail-if", SLOWER)
    assert "1 undecided" in answer.stdout
    assert isinstance(answer.exception, ResultsNotAccepted)
    assert "--undecided pass" in (answer.exception.remedy or "")
    assert gate(*base, noisy, "--fail-if", SLOWER, "--undecided", "pass").exit_code == 0


def test_a_value_of_head_alone_has_a_bound_too(base: list[Path], head: Callable[..., Path]) -> None:
    slow = head(latency_ns=60_000)
    assert gate(*base, slow, "--fail-if", "median(latency) > 100 µs").exit_code == 0
    assert isinstance(gate(*base, slow, "--fail-if", "median(latency) > 55 µs").exception, ResultsNotAccepted)


def test_a_head_that_no_longer_communicates_fails(base: list[Path], head: Callable[..., Path]) -> None:
    silent = NoCommunication(missing=(MissingPath(stream="imu", publisher=0, subscriber=0),))
    broken = head(outcome=silent)
    answer = gate(*base, broken, "--fail-if", SLOWER, "--json")
    (said,) = json.loads(answer.stdout)["conditions"]
    assert (said["decision"], said["reason"]) == (
        "failed",
        "one side could not keep up more often: none of 8 trials, against no communication in 8 of 8 trials",
    )


def test_junit_and_markdown_tell_failed_passed_and_undecided(
    base: list[Path], head: Callable[..., Path], tmp_path: Path
) -> None:
    other = head(latency_ns=60_000)
    conditions = [SLOWER, "median(latency) > 100 µs", "median(latency) > +20 %"]
    asked = [part for each in conditions for part in ("--fail-if", each)]
    gate(*base, other, *asked, "--junit", tmp_path / "out" / "gate.xml", "--markdown", tmp_path / "gate.md")
    suite = ET.parse(tmp_path / "out" / "gate.xml").getroot().find("testsuite")  # noqa: S314 - our own
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    names = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
    assert names == {conditions[0]: ["failure"], conditions[1]: ["system-out"], conditions[2]: ["skipped"]}
    text = (tmp_path / "gate.md").read_text(encoding="utf-8")
    assert text.startswith("## Middlemark: ❌ 1 of 3 conditions failed, 1 passed, 1 undecided")
    assert "| head against 5 base runs, udp, imu | median(latency)" in text


HOSTILE = "\x1b]52;c;Y2F0\x07 <b>\n\n# head\n@someone [x](https://example.org) ]]> \ud800"


def test_what_a_run_names_breaks_no_junit_and_opens_nothing_in_markdown() -> None:
    pairs = Pairs((), alone=(HOSTILE,), gone=(HOSTILE,))
    (case,) = ET.fromstring(junit([], pairs)).iter("testcase")  # noqa: S314 - our own
    assert "<b>" in (case.get("classname") or "")
    text = markdown([], pairs)
    assert [line for line in text.splitlines() if line.startswith("#")] == [text.splitlines()[0]]
    obeyed = re.sub(r"\\.", "", text)
    assert [each for each in ("\x1b", "@someone", "<", "[") if each in obeyed] == []


@pytest.mark.parametrize(("undecided", "mark"), [("pass", "❔"), ("fail", "❌")])
def test_the_headline_has_no_tick_where_something_is_undecided(
    base: list[Path], head: Callable[..., Path], tmp_path: Path, mark: str, undecided: str
) -> None:
    asked = ["--fail-if", SLOWER, "--markdown", tmp_path / "gate.md", "--undecided", undecided]
    answer = gate(*base, head(latency_ns=52_000), *asked)
    assert (answer.exception is None) is (undecided == "pass")
    assert (tmp_path / "gate.md").read_text(encoding="utf-8").startswith(f"## Middlemark: {mark} 0 of 1")


def test_an_experiment_that_head_lacks_is_told_and_undecided(runs: SharedRuns, tmp_path: Path) -> None:
    quick = Behaviour(latency_ns=50_000)
    both = [measured(runs, tmp_path / f"both_{n}", n, udp=quick, tcp=quick) for n in range(1, 5)]
    one = [measured(runs, tmp_path / f"one_{n}", n, udp=quick) for n in range(5, 9)]
    asked = ["--fail-if", "median(latency) > +30 %", "--junit", tmp_path / "gate.xml"]
    assert gate(*both, one[0], *asked, "--undecided", "pass").exit_code == 0
    text = (tmp_path / "gate.xml").read_text(encoding="utf-8")
    assert text.count("<skipped") == 1
    assert "only 4 base runs have" in text
    refused = gate(*both, one[0], *asked).exception
    assert isinstance(refused, ResultsNotAccepted)
    assert "middleware=tcp" in str(refused)
    assert gate(*one, both[0], *asked).exit_code == 0


def test_base_and_head_may_have_taken_turns_in_one_run(runs: SharedRuns) -> None:
    folder = run(runs, 1, old=Behaviour(latency_ns=50_000), new=Behaviour(latency_ns=60_000))
    answer = gate(folder, "--by", "middleware", "--base", "old", "--fail-if", SLOWER)
    assert isinstance(answer.exception, ResultsNotAccepted)
    assert "new against old, imu\n" in answer.stdout


def test_a_condition_that_nothing_can_meet_is_a_mistake(base: list[Path], head: Callable[..., Path]) -> None:
    answer = gate(*base, head(), "--fail-if", "p99(round_trip) > +5 %")
    assert isinstance(answer.exception, UsageError)


@pytest.mark.parametrize("n_runs", [1, 2])
def test_one_or_two_runs_of_the_base_decide_nothing_about_a_change_and_say_why(
    base: list[Path], head: Callable[..., Path], n_runs: int
) -> None:
    slow = head(latency_ns=100_000)
    answer = gate(*base[:n_runs], slow, "--fail-if", SLOWER, "--json")
    (said,) = json.loads(answer.stdout)["conditions"]
    assert said["decision"] == "undecided"
    assert "how much runs differ without any change is unknown" in said["reason"]
    assert isinstance(answer.exception, ResultsNotAccepted)
    assert "--against" in (answer.exception.remedy or "")


def test_too_few_samples_are_what_is_told_and_remedied_not_too_few_runs(
    base: list[Path], head: Callable[..., Path]
) -> None:
    answer = gate(*base, head(), "--fail-if", "p999(latency) > +5 %", "--json")
    (said,) = json.loads(answer.stdout)["conditions"]
    assert said["decision"] == "undecided"
    assert "too few samples" in said["reason"]
    assert isinstance(answer.exception, ResultsNotAccepted)
    assert "a longer `window`" in (answer.exception.remedy or "")
    assert "runs of the base" not in (answer.exception.remedy or "")


def test_a_bound_of_head_alone_needs_no_more_than_one_run_of_the_base(
    base: list[Path], head: Callable[..., Path]
) -> None:
    slow = head(latency_ns=100_000)
    assert gate(base[0], slow, "--fail-if", "median(latency) > 200 µs").exit_code == 0
    assert "1 of 1 condition failed" in gate(base[0], slow, "--fail-if", "median(latency) > 60 µs").stdout


def test_a_change_within_what_runs_differ_by_does_not_fail(runs: SharedRuns) -> None:
    levels = (50_000, 56_000, 46_000, 60_000, 44_000)
    bases = [run(runs, n, udp=Behaviour(latency_ns=each)) for n, each in enumerate(levels, 1)]
    slower = run(runs, 9, udp=Behaviour(latency_ns=60_000))
    assert "0 of 1 condition failed, 0 passed, 1 undecided" in gate(*bases, slower, "--fail-if", SLOWER).stdout


def test_a_run_and_its_copy_are_refused(base: list[Path], tmp_path: Path, head: Callable[..., Path]) -> None:
    copy = shutil.copytree(base[0], tmp_path / "copy")
    answer = gate(*base, copy, head(), "--fail-if", SLOWER)
    assert isinstance(answer.exception, UsageError)
    assert "copy is the same run as" in str(answer.exception)


def test_runs_of_two_machines_are_refused_with_both_names_unless_told_otherwise(
    base: list[Path], head: Callable[..., Path]
) -> None:
    other = RunFolder(head())
    manifest = other.read_manifest()
    machine = {**manifest.machine, "cpu_model": "another CPU"}
    other.write_manifest(manifest.model_copy(update={"machine": machine}))
    asked = [*base, other.path, "--fail-if", "median(latency) > +20 %"]
    refused = gate(*asked).exception
    assert isinstance(refused, UsageError)
    assert "another CPU" in str(refused)
    assert gate(*asked, "--across-machines").exit_code == 0


def test_runs_of_two_suites_are_refused(runs: SharedRuns, base: list[Path]) -> None:
    other = runs.run(SUITE.replace("suite: s", "suite: t"), {"udp": Behaviour()}, seed=9).path
    refused = gate(*base, other, "--fail-if", SLOWER).exception
    assert isinstance(refused, UsageError)
    assert "different suites" in str(refused)


def test_json_names_the_runs_of_the_base(base: list[Path], head: Callable[..., Path]) -> None:
    (said,) = json.loads(gate(*base, head(), "--fail-if", SLOWER, "--json").stdout)["conditions"]
    assert said["sides"] == ["5 base runs", "head"]
    assert said["difference"]["n_first"] == 5
    assert said["difference"]["test"].startswith("ratio of a run to the runs of the base")
