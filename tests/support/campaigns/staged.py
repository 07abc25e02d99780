"""Campaigns with the fake worker, staged for a test: its suite, its order, what is left of it."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from middlemark.campaign import order
from middlemark.plan import Trial, expand, order_trials
from middlemark.suite import LoadedSuite, parse_suite

FAKE_WORKER = Path(__file__).with_name("fake_worker.py")
OF_FAKE_WORKER = ("fake_protocol.py", "fake_samples.py")

SUITE = """
suite: staged
trials: 1
middlewares: [{{middleware: fake, options: {options}}}]
workloads: [{{workload: imu, rate: 200 Hz, size: 100 B}}]
topologies: {topology}
windows: {{first_message: 20 s, warm_up: 20 ms, window: 200 ms, drain: 100 ms}}
{more}
"""


def own_machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake worker for the only one, and ledgers, slots and caches of the test's own."""
    install_fake_worker(folder / "workers")
    monkeypatch.setenv("MIDDLEMARK_WORKERS", str(folder / "workers"))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))


def install_fake_worker(folder: Path, middleware: str = "fake") -> None:
    """Puts the fake worker where workers are looked for, under the name of a middleware's."""
    folder.mkdir(parents=True, exist_ok=True)
    worker = folder / f"middlemark-worker-{middleware}"
    worker.write_text(f"#!{sys.executable} -ISB\n" + FAKE_WORKER.read_text())
    worker.chmod(0o755)
    beside = worker.with_name(f"{worker.name}.lib")
    beside.mkdir(exist_ok=True)
    for module in OF_FAKE_WORKER:
        shutil.copy(FAKE_WORKER.with_name(module), beside)


def suite_text(topology: str = "C1-1", more: str = "", **options: object) -> str:
    plain = {name: str(value).lower() if isinstance(value, bool) else value for name, value in options.items()}
    pairs = ", ".join(f"{name}: {value}" for name, value in plain.items())
    return SUITE.format(options="{" + pairs + "}", topology=topology, more=more)


def placed(text: str) -> order.Order:
    suite = parse_suite(text, file="staged.yaml")
    return order.order_suite(LoadedSuite(file="staged.yaml", text=text, suite=suite), [], None)


def planned(text: str) -> Trial:
    """The only trial of a suite with the middleware `toy`."""
    suite = parse_suite(f"suite: x\nmiddlewares: toy\n{text}", file="x.yaml")
    (trial,) = order_trials(expand(suite, available=["toy"]), blocks=1, seed=3)
    return trial


def marked_processes() -> set[int]:
    """The living processes of any trial under this test's state."""
    state = f"XDG_STATE_HOME={os.environ['XDG_STATE_HOME']}".encode()
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                variables = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if state in variables and any(variable.startswith(b"MIDDLEMARK_MARK=") for variable in variables):
                found.add(int(folder.name))
    return found


def install_worker_that_carries(rate_hz: int, folder: Path) -> None:
    install_fake_worker(folder)
    worker = folder / "middlemark-worker-fake"
    text = worker.read_text()
    limit, punctuality = "CARRIES_HZ = 1e9", "IS_PUNCTUAL = False"
    assert limit in text
    assert punctuality in text
    worker.write_text(text.replace(limit, f"CARRIES_HZ = {rate_hz}").replace(punctuality, "IS_PUNCTUAL = True"))
