"""A fleet for a test: a scheduler and test-beds, each a process of its own with state of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

PATIENCE_S = 600.0
"""Until a test gives up: a busy machine takes a minute for what an idle one does at once."""
PATIENT = pytest.mark.timeout(2 * PATIENCE_S)
MIDDLEMARK = (sys.executable, "-c", "from middlemark.cli.main import main; main()")


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def connections(pid: int) -> list[Any]:
    """The TCP sockets of a process."""
    return psutil.Process(pid).net_connections("tcp")


@dataclass
class TestFleet:
    """A scheduler on loopback and the test-beds that joined it."""

    __test__ = False
    folder: Path
    scheduler: subprocess.Popen[bytes]
    address: str
    options: tuple[str, ...] = ()
    """Of whoever connects."""
    testbeds: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def join(self, name: str, *words: str, **variables: str) -> None:
        """Starts a test-bed, with these words on its command line, and returns when it has joined."""
        own = {"XDG_STATE_HOME": str(self.folder / f"state-{name}"), "TMPDIR": str(self.place(name))}
        self.place(name).mkdir()
        with self.log(name).open("wb") as log:
            command = (*MIDDLEMARK, "testbed", "join", self.address, "--name", name, *words, *self.options)
            environment = {**os.environ, **own, **variables}
            self.testbeds[name] = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        until(lambda: self._has_joined(name), f"{name} does not join")

    def _has_joined(self, name: str) -> bool:
        said = self.log(name).read_text()
        assert self.testbeds[name].poll() is None, said
        return "Registered to" in said

    def kill_at(self, address: str) -> str:
        """Kills the test-bed with this address; gives its name."""
        port = int(address.rpartition(":")[2])
        name = next(
            name
            for name, process in self.testbeds.items()
            if process.poll() is None and any(each.laddr.port == port for each in connections(process.pid))
        )
        self.testbeds[name].kill()
        self.testbeds[name].wait(PATIENCE_S)
        return name

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def place(self, name: str) -> Path:
        """Where its blocks are measured."""
        return self.folder / f"tmp-{name}"

    def measures(self, name: str) -> bool:
        """Whether a trial is under way there."""
        return any(self.place(name).glob("middlemark-block-*/run/trials/*/logs"))


def _is_up(scheduler: subprocess.Popen[bytes], told: Path) -> bool:
    assert scheduler.poll() is None, "the scheduler has ended"
    return told.exists() and told.read_text().endswith("}")


@contextmanager
def fleet(folder: Path, *names: str, tls: tuple[str, ...] = ()) -> Iterator[TestFleet]:
    """A scheduler and test-beds of these names, which have joined it; with TLS where its files are named as options."""
    told = folder / "scheduler.json"
    log = (folder / "scheduler.log").open("wb")
    command = (sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
    options = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(told))
    of_dask = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "10", "DASK_TEMPORARY_DIRECTORY": str(folder)}
    environment = {**os.environ, **of_dask}
    protocol = ("--protocol", "tls", *tls) if tls else ()
    with log, subprocess.Popen((*command, *options, *protocol), stdout=log, stderr=log, env=environment) as scheduler:
        made = None
        try:
            until(lambda: _is_up(scheduler, told), "the scheduler does not come up")
            address = json.loads(told.read_text())["address"]
            made = TestFleet(folder, scheduler, address, tls)
            for name in names:
                made.join(name)
            yield made
        finally:
            for process in [*(made.testbeds.values() if made else ()), scheduler]:
                process.terminate()
            for process in made.testbeds.values() if made else ():
                process.wait(PATIENCE_S)
