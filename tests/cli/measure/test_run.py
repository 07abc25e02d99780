"""`middlemark run` as a user has it: exit codes, what goes to standard output, and how an interrupted run goes on."""

import io
import json
import signal
import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from rich.console import Console

from command_line import MIDDLEMARK, middlemark
from middlemark.cli.measure.plan import print_plan
from middlemark.errors import ExitCode
from middlemark.plan import plan_trials
from middlemark.suite import load_suite
from staged import own_machine, suite_text


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_machine(tmp_path, monkeypatch)
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    monkeypatch.chdir(tmp_path)


def suite(text: str) -> Path:
    path = Path("suite.yaml")
    path.write_text(text)
    return path


def test_a_run_ends_with_the_summary_and_the_report(tmp_path: Path) -> None:
    """As a process of its own, which nothing has prepared."""
    command = [*MIDDLEMARK, "run", suite(suite_text())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == ExitCode.OK, done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert run.name.startswith("staged-")
    assert f"report: {Path('runs') / run.name / 'report.html'}" in done.stdout
    assert "<html" in (run / "report.html").read_text()
    assert "1 valid" in done.stderr


def test_json_is_all_that_goes_to_standard_output() -> None:
    done = middlemark("run", suite(suite_text()), "--json", "--out", "out", "--trials", 2, "--tag", "nightly")
    assert done.returncode == ExitCode.OK, done.stderr
    said = json.loads(done.stdout)
    assert said["run"] == "out"
    assert said["estimates"]
    assert json.loads(Path("out", "manifest.json").read_text())["tags"] == ["nightly"]


def test_what_can_not_be_a_tag_is_refused_before_anything_runs() -> None:
    refused = middlemark("run", suite(suite_text()), "--tag", "every night")
    assert refused.returncode == ExitCode.USAGE
    assert "'every night' can't be a tag" in refused.stderr
    assert not Path("runs").exists()


def test_a_trial_that_does_not_count_is_told_by_the_exit_code() -> None:
    done = middlemark("run", suite(suite_text(fault="fails_at_start", faulty="publisher_0")))
    assert done.returncode == ExitCode.NOT_ACCEPTED
    assert "trials that don't count: 1 of 1 (1 failed)" in done.stderr


def test_what_a_middleware_can_not_do_is_accepted() -> None:
    done = middlemark("run", suite(suite_text(fault="refuses", faulty="publisher_0")))
    assert done.returncode == ExitCode.OK, done.stderr
    assert "only periodic streams" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "no suite is named"),
        (["run", "nonesuch"], "nonesuch"),
        (["run", "quick", "--resume", "x"], "--resume continues what was planned"),
        (["run", "--resume", "x", "--trials", "3"], "--resume continues what was planned"),
        (["run", "quick", "--across"], "is only for runs that are resumed"),
        (["run", "suite.yaml", "--only", "color=blue"], "color"),
        (["run", "suite.yaml", "--trials", "0"], "greater than or equal to 1"),
    ],
    ids=[
        "no suite",
        "a suite that does not ship",
        "a suite beside a run to go on with",
        "other trials of a run to go on with",
        "`--across` of a run that begins",
        "a factor that there is not",
        "no trials",
    ],
)
def test_a_wrong_command_line_is_a_usage_error(arguments: list[str], said: str) -> None:
    suite(suite_text())
    done = middlemark(*arguments)
    assert done.returncode == ExitCode.USAGE
    assert said in done.stderr
    assert not Path("runs").exists()


def test_a_dry_run_shows_the_experiments_their_places_in_the_order_and_the_duration() -> None:
    trials = plan_trials(load_suite("quick").suite, available=["udp", "zenoh"], conditions=["workload=imu"])
    screen = io.StringIO()
    print_plan(trials, Console(file=screen, width=100))
    shown = "\n".join(line.rstrip() for line in screen.getvalue().splitlines())
    assert shown == snapshot("""\

  middleware   window   runs as trial
 ──────────────────────────────────────
  udp             1 s   1, 3, 6, 8, 9
  zenoh           1 s   2, 4, 5, 7, 10

all of them: profile default, workload imu, pattern periodic, size 1 kB, rate 200 Hz, arrival fixed,
reliability best_effort, history keep_all, durability volatile, congestion drop, topology C1-1,
placement separate, cpus spread, scheduling other, spin 0 ns, keep_awake true
2 experiments × 5 trials = 10 trials in 5 blocks, about 0 min 16 s\
""")


def test_machines_of_an_inventory_are_hosts_and_too_few_are_told() -> None:
    placed = suite(suite_text(topology="[C1-1, D1-1, D1-3]"))
    Path("hosts.yaml").write_text("machines: [{ssh: car}, {ssh: box}]\n", encoding="utf-8")
    done = middlemark("run", placed, "--hosts", "hosts.yaml", "--dry-run", "--json")
    assert "the topology D1-3 is left out: it has 4 hosts, and the inventory has 2 machines" in done.stderr
    planned = [trial["experiment"] for trial in json.loads(done.stdout)]
    assert {each["topology"] for each in planned} == {"C1-1", "D1-1"}
    assert {host["ssh"] for each in planned for host in each["hosts"] if each["topology"] == "D1-1"} == {"car", "box"}


def test_a_dry_run_of_one_trial_speaks_of_one() -> None:
    done = middlemark("run", suite(suite_text()), "--trials", "1", "--dry-run")
    assert "1 experiment × 1 trial = 1 trial in 1 block, " in done.stdout


def test_a_dry_run_says_what_is_left_to_results() -> None:
    done = middlemark("run", suite(suite_text(more="stop: {max_trials: 12}")), "--dry-run")
    assert "more blocks until intervals are narrow enough, at most 12 trials each" in done.stdout


def test_a_dry_run_says_what_is_not_installed() -> None:
    done = middlemark("run", suite(suite_text().replace("middlewares: [", "middlewares: [toydds, ")), "--dry-run")
    assert "toydds is left out: not installed" in done.stdout


def test_a_dry_run_says_what_a_worker_refuses_and_counts_no_time_for_it() -> None:
    refused = "workload: imu, rate: 200 Hz}, {workload: flood, pattern: unthrottled, messages: 1000"
    done = middlemark("run", suite(suite_text().replace("workload: imu, rate: 200 Hz", refused)), "--dry-run")
    assert "not applicable: fake, 1 experiment: unthrottled: only periodic streams" in done.stdout
    accepted = middlemark("run", suite(suite_text()), "--dry-run")
    one, other = (" ".join(said.stdout.split()) for said in (done, accepted))
    assert "= 2 trials, 1 of them not applicable, in 1 block, about 0 min 01 s" in one
    assert "= 1 trial in 1 block, about 0 min 01 s" in other


def test_a_dry_run_starts_and_writes_nothing() -> None:
    done = middlemark("run", suite(suite_text(fault="dies_before_armed", faulty="publisher_0")), "--dry-run")
    assert done.returncode == ExitCode.OK, done.stderr
    assert "1 trial" in done.stdout
    assert not Path("runs").exists()
    planned = json.loads(middlemark("run", "suite.yaml", "--dry-run", "--json").stdout)
    assert [trial["experiment"]["middleware"] for trial in planned] == ["fake"]


def test_ctrl_c_says_how_to_go_on_and_going_on_completes_the_run() -> None:
    text = suite_text().replace("trials: 1", "trials: 3")
    process = subprocess.Popen([*MIDDLEMARK, "run", suite(text), "--out", "out"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert any("[1/3]" in line for line in iter(process.stderr.readline, ""))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "middlemark run --resume out" in said
    done = middlemark("run", "--resume", "out")
    assert done.returncode == ExitCode.OK, done.stderr
    assert "3 valid" in done.stderr


def test_a_worker_that_is_missing_is_an_error_of_the_environment() -> None:
    done = middlemark("run", suite(suite_text().replace("fake", "nonesuch")))
    assert done.returncode == ExitCode.ENVIRONMENT
    assert "nonesuch" in done.stderr
    assert "doctor" in done.stderr


def test_a_folder_that_can_not_be_written_is_an_error_of_the_environment() -> None:
    done = middlemark("run", suite(suite_text()), "--out", "/proc/nowhere/run")
    assert done.returncode == ExitCode.ENVIRONMENT
    assert "/proc/nowhere" in done.stderr
    assert "Traceback" not in done.stderr
