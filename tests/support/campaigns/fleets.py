"""A fleet for a test: a scheduler and test-beds, each a process of its own with state of its own."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import psutil
import pytest

import prepared

PATIENCE_S = 600.0
"""Until a test gives up: a busy machine takes a minute for what an idle one does at once."""
PATIENT = pytest.mark.timeout(2 * PATIENCE_S)


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
    scheduler: BaseProcess
    address: str
    options: tuple[str, ...] = ()
    """Of whoever connects."""
    testbeds: dict[str, BaseProcess] = field(default_factory=dict)

    def join(self, name: str, *words: str, **variables: str) -> None:
        """Starts a test-bed, with these words on its command line, and returns when it has joined."""
        own = {"XDG_STATE_HOME": str(self.folder / f"state-{name}"), "TMPDIR": str(self.place(name))}
        self.place(name).mkdir()
        command = ("testbed", "join", self.address, "--name", name, *words, *self.options)
        environment = {**os.environ, **own, **variables}
        self.testbeds[name] = prepared.start(prepared.FRONT, command, self.log(name), environment)
        until(lambda: self._has_joined(name), f"{name} does not join")

    def _has_joined(self, name: str) -> bool:
        said = self.log(name).read_text()
        assert self.testbeds[name].is_alive(), said
        return "Registered to" in said

    def kill_at(self, address: str) -> str:
        """Kills the test-bed with this address; gives its name."""
        port = int(address.rpartition(":")[2])
        name = next(
            name
            for name, process in self.testbeds.items()
            if process.is_alive() and any(each.laddr.port == port for each in connections(process.pid))
        )
        self.testbeds[name].kill()
        self.testbeds[name].join(PATIENCE_S)
        return name

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def place(self, name: str) -> Path:
        """Where its blocks are measured."""
        return self.folder / f"tmp-{name}"

    def measures(self, name: str) -> bool:
        """Whether a trial is under way there."""
        return any(self.place(name).glob("middlemark-block-*/run/trials/*/logs"))


def _is_up(scheduler: BaseProcess, told: Path) -> bool:
    assert scheduler.is_alive(), "the scheduler has ended"
    return told.exists() and told.read_text().endswith("}")


@contextmanager
def fleet(folder: Path, *names: str, tls: tuple[str, ...] = ()) -> Iterator[TestFleet]:
    """A scheduler and test-beds of these names, which have joined it; with TLS where its files are named as options."""
    told = folder / "scheduler.json"
    place = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", told)
    options = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
    of_dask = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "10", "DASK_TEMPORARY_DIRECTORY": str(folder)}
    environment = {**os.environ, **of_dask}
    protocol = ("--protocol", "tls", *tls) if tls else ()
    words = (*place, *options, *protocol)
    scheduler = prepared.start(prepared.SCHEDULER, words, folder / "scheduler.log", environment)
    made = None
    try:
        until(lambda: _is_up(scheduler, told), "the scheduler does not come up")
        address = json.loads(told.read_text())["address"]
        made = TestFleet(folder, scheduler, address, tls)
        for name in names:
            made.join(name)
        yield made
    finally:
        processes = [*(made.testbeds.values() if made else ()), scheduler]
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(PATIENCE_S)
