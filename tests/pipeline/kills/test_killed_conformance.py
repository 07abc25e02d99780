"""A conformance suite that is killed with all its workers leaves what the next clean-up removes."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from command_line import MIDDLEMARK
from middlemark.testbed.processes.entry import read_entries
from middlemark.testbed.processes.procfs import SHARED_MEMORY
from middlemark.worker import executables
from testbeds import until

ROOT = Path(__file__).resolve().parents[3]
CARGO_TEST = ["cargo", "test", "--release", "--locked", "--quiet", "-p", "middlemark-conformance"]

pytestmark = [
    pytest.mark.worker,
    pytest.mark.timeout(900),  # the suite may have to be compiled first
    pytest.mark.skipif(shutil.which("cargo") is None, reason="the conformance suite is run by cargo"),
]


@pytest.fixture(scope="module")
def conformance() -> Path:
    """The suite's executable."""
    command = [*CARGO_TEST, "--test", "conformance", "--no-run", "--message-format", "json"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    (executable,) = [message["executable"] for message in messages if message.get("executable")]
    return Path(executable)


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="mmk", dir="/tmp") as folder:
        yield os.environ | {"XDG_STATE_HOME": str(tmp_path / "state"), "TMPDIR": folder}


def listed(environment: dict[str, str]) -> set[str]:
    """What the ledgers name."""
    ledgers = Path(environment["XDG_STATE_HOME"], "middlemark/ledgers").glob("*.jsonl")
    return {entry.what for ledger in ledgers for entry in read_entries(ledger)[0]}


def still_there(names: set[str]) -> list[str]:
    shared = [path for path in SHARED_MEMORY.iterdir() for name in names if name in str(path)]
    return [str(path) for path in shared] + [name for name in names if name.startswith("/") and Path(name).exists()]


def held_by(suite: subprocess.Popen[bytes]) -> list[set[str]]:
    """The shared memory that each of the suite's workers holds which has any."""
    held = []
    for process in psutil.Process(suite.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            mapped = {each.path for each in process.memory_maps() if Path(each.path).is_relative_to(SHARED_MEMORY)}
            held.append({path for path in mapped if Path(path).exists()})
    return [paths for paths in held if paths]


@pytest.mark.parametrize(
    ("worker", "check", "n_workers"),
    [
        ("shm", "default::accounting_is_exact", 2),
        ("iceoryx2", "default::accounting_is_exact", 2),
        ("fastdds", "default::accounting_is_exact", 2),
        ("fastdds", "strangers_are_kept_out", 4),  # two of the trial and two strangers
    ],
)
def test_after_a_kill_the_next_clean_up_removes_all(
    conformance: Path, environment: dict[str, str], worker: str, check: str, n_workers: int
) -> None:
    if worker not in executables.workers():
        pytest.skip(f"the worker `{worker}` is not built")
    command = [conformance, f"{worker}::{check}"]
    suite = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL)

    def has_listed_what_it_holds() -> bool:
        held, names = held_by(suite), listed(environment)
        return len(held) == n_workers and all(any(name in path for name in names) for path in set.union(*held))

    try:
        until(has_listed_what_it_holds)
        names, family = listed(environment), psutil.Process(suite.pid).children(recursive=True)
    finally:
        suite.kill()
        suite.wait()
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(family, timeout=20)
    assert still_there(names), "the kill came too late to leave anything"
    cleaned = subprocess.run([*MIDDLEMARK, "clean"], env=environment, capture_output=True, text=True, check=False)
    assert cleaned.returncode == 0, cleaned.stderr
    assert still_there(names) == []
    assert listed(environment) == set()
