"""A front that is killed at any instant leaves nothing running after a sweep, and its run can be gone on with."""

import json
import signal
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

import pytest

import prepared
from middlemark.campaign.campaign import resume_run
from middlemark.errors import ExitCode
from middlemark.results.run_folder import RunFolder
from middlemark.results.trial_folder import TrialFolder
from middlemark.testbed.processes import abandoned
from staged import marked_processes, suite_text

LOG = "front.log"
# Every process of the trial is deaf: neither the end of its standard input nor SIGTERM ends it.
DEAF = suite_text(fault="deaf", faulty="publisher_0 subscriber_0", brokered=True).replace("trials: 1", "trials: 2")


def front(folder: Path, text: str, *doom: object) -> BaseProcess:
    suite = folder / "suite.yaml"
    suite.write_text(text)
    return prepared.start("staged_front", (suite, folder / "run", *doom), folder / LOG)


def ended(process: BaseProcess, folder: Path) -> tuple[int | None, str]:
    """The exit status of a front, and what it said."""
    process.join(60)
    return process.exitcode, (folder / LOG).read_text()


def kill_front(folder: Path, text: str, *doom: object) -> tuple[int | None, str]:
    return ended(front(folder, text, *doom), folder)


def folders_of_trials(tmp_path: Path) -> list[Path]:
    """The folders outside the run that any ledger of this test lists, removed ones too."""
    lines = [
        line for path in (tmp_path / "state/middlemark/ledgers").iterdir() for line in path.read_text().splitlines()
    ]
    return [Path(entry["what"]) for entry in map(json.loads, lines) if entry.get("kind") == "folder"]


@pytest.mark.parametrize(
    ("step", "seconds"),
    [
        ("arming", 0),
        ("arming", 0.03),
        ("first messages", 0),
        ("first messages", 0.04),
        ("measuring", 0.12),
        ("draining", 0.001),
        ("stopping", 0.001),
        ("storing", 0),
    ],
)
def test_after_sigkill_a_sweep_leaves_nothing_and_resume_completes(tmp_path: Path, step: str, seconds: float) -> None:
    status, _ = kill_front(tmp_path, DEAF, signal.SIGKILL.value, step, seconds)
    assert status == -signal.SIGKILL
    folders = folders_of_trials(tmp_path)

    abandoned.sweep()
    assert marked_processes() == set()
    assert not any(folder.exists() for folder in folders)
    assert list((tmp_path / "state/middlemark/ledgers").iterdir()) == []
    assert abandoned.sweep() == []

    resume_run(tmp_path / "run")
    records = [folder.read_record() for folder in RunFolder(tmp_path / "run").stored_trials()]
    assert [record.outcome.kind for record in records] == ["valid", "valid"]


def test_a_sweep_ends_what_a_killed_front_left_running_and_says_so(tmp_path: Path) -> None:
    kill_front(tmp_path, DEAF, signal.SIGKILL.value, "measuring", 0.1)
    running = marked_processes()
    assert len(running) >= 2
    removed = abandoned.sweep()
    assert {each.what for each in removed if each.kind == "process"} >= {
        f"middlemark-worker-fake application {name}" for name in ("publisher_0", "subscriber_0")
    }
    assert marked_processes() == set()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", ["arming", "measuring", "stopping"])
def test_a_signal_ends_the_run_cleanly_and_says_how_to_go_on(tmp_path: Path, number: signal.Signals, step: str) -> None:
    status, said = kill_front(tmp_path, DEAF, number.value, step, 0.02)
    assert status == ExitCode.INTERRUPTED
    assert f"--resume {tmp_path / 'run'}" in said
    assert marked_processes() == set()
    assert list((tmp_path / "state/middlemark/ledgers").iterdir()) == []
    resume_run(tmp_path / "run")
    assert len(list(RunFolder(tmp_path / "run").stored_trials())) == 2


def test_a_sweep_leaves_the_run_of_a_living_front_alone(tmp_path: Path) -> None:
    process = front(tmp_path, suite_text().replace("trials: 1", "trials: 2"))
    removed = []
    while process.is_alive():
        removed += abandoned.sweep()
    assert (*ended(process, tmp_path), removed) == (0, "", [])
    records = [folder.read_record() for folder in RunFolder(tmp_path / "run").stored_trials()]
    assert [record.outcome.kind for record in records] == ["valid", "valid"]


def test_two_campaigns_at_once_have_ports_domains_and_names_of_their_own(tmp_path: Path) -> None:
    text = suite_text(topology="C2-2").replace("trials: 1", "trials: 4")
    fronts = {}
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        fronts[folder] = front(folder, text)
    for folder, process in fronts.items():
        assert ended(process, folder) == (0, "")
    first, second = ([_given(folder) for folder in RunFolder(tmp_path / name / "run").stored_trials()] for name in "ab")
    assert len(first) == len(second) == 4
    assert len({each.name for each in (*first, *second)}) == len({each.token for each in (*first, *second)}) == 8
    # A slot is used again only when it was given back.
    at_once = [
        (one, other)
        for one in first
        for other in second
        if max(one.began_ns, other.began_ns) < min(one.ended_ns, other.ended_ns)
    ]
    assert at_once
    assert all(one.domain != other.domain for one, other in at_once)


class Given(NamedTuple):
    """What a trial had for itself, and for how long at least."""

    name: str
    token: str
    domain: int
    began_ns: int
    ended_ns: int


def _given(folder: TrialFolder) -> Given:
    assert folder.read_record().outcome.kind == "valid"
    rendezvous = json.loads(folder.spec_path.read_text())["publisher_0"]["rendezvous"]
    said_ns = [json.loads(line)["at_ns"] for line in folder.events_path.read_text().splitlines()]
    return Given(rendezvous["name"], rendezvous["token"], rendezvous["domain"], min(said_ns), max(said_ns))


def test_trials_that_results_ask_for_are_planned_first_and_alike_by_resume(tmp_path: Path) -> None:
    text = suite_text(more="stop: {relative_width: 0.1 %, max_trials: 8, figures: [first_message]}")
    kill_front(tmp_path, text.replace("trials: 1", "trials: 6"), signal.SIGKILL.value, "stopping", 0)
    abandoned.sweep()
    run = RunFolder(tmp_path / "run")
    resume_run(run.path)
    manifest = run.read_manifest()
    assert [trial.id[:2] for trial in manifest.trials] == [folder.id[:2] for folder in run.stored_trials()]
    assert [trial.block for trial in manifest.trials] == list(range(1, 9))
    (width,) = manifest.widths
    assert (width.figure, width.n_trials, width.settled) == ("first_message", 8, False)
    before = run.manifest_path.read_bytes()
    resume_run(run.path)
    assert run.manifest_path.read_bytes() == before
