"""Starts a process that the ledger knows from before its start, with its mark in its environment and its children's.

It has a session of its own, so that a Ctrl-C at the terminal is the front's alone. Who starts it ends it, and then has
its mark removed; what is said to it, and what it says, its starter knows.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from middlemark.testbed.ledger import Ledger
from middlemark.testbed.processes import MARK_VARIABLE


def start(  # noqa: PLR0913 - a process has three streams
    what: str,
    command: Sequence[str],
    ledger: Ledger,
    *,
    stdin: int = subprocess.PIPE,
    stdout: int | None = subprocess.PIPE,
    stderr: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[subprocess.Popen[bytes], str]:
    """The process, which does `what`, and its mark; `environment` goes beyond this one's."""
    mark = ledger.enter("process", what)
    process = subprocess.Popen(
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env={**os.environ, MARK_VARIABLE: mark, **(environment or {})},
        start_new_session=True,
    )
    ledger.started(mark, process.pid)
    return process, mark
