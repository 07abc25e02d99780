"""Keeps CPUs awake for a trial, so that the time a sleeping or virtual CPU takes to wake is not in its figures.

It starts one `spinner` a CPU, entered in the ledger, and ends them with the context. Whether a trial wants this is its
plan's to say.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from middlemark.testbed.ledger import Ledger
from middlemark.testbed.processes import MARK_VARIABLE

SPINNER = Path(__file__).with_name("spinner.py")


@contextmanager
def kept_awake(cpus: Iterable[int], ledger: Ledger) -> Iterator[None]:
    """Keeps these CPUs awake while the context lasts."""
    spinners = [_start(cpu, ledger) for cpu in cpus]
    try:
        yield
    finally:
        for spinner, _ in spinners:
            spinner.kill()
        for spinner, _ in spinners:
            spinner.communicate()
        ledger.remove(*(mark for _, mark in spinners))


def _start(cpu: int, ledger: Ledger) -> tuple[subprocess.Popen[bytes], str]:
    mark = ledger.enter("process", f"keeps CPU {cpu} awake")
    spinner = subprocess.Popen(
        [sys.executable, "-I", "-S", str(SPINNER), str(cpu)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, MARK_VARIABLE: mark},
        start_new_session=True,
    )
    ledger.started(mark, spinner.pid)
    return spinner, mark
