"""A process that ends with its standard input, and so with this front, and that echoes to say that it runs.

What holds a container or a connection open is one. Shells that hold namespaces, which are told commands, are `holder`.
"""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, cast

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed import marked_process
from middlemark.testbed.ledger import Ledger

STARTING_S = 30.0
ENDING_S = 10.0


class Lifeline:
    """The process; whoever starts it ends it."""

    def __init__(self, what: str, command: Sequence[str], ledger: Ledger, remedy: str) -> None:
        """Starts the command and returns when it gives back what it is given; raises with what it said instead."""
        self._ledger = ledger
        self._process, self._mark = marked_process.start(what, command, ledger, stderr=subprocess.PIPE)
        if not self._echoes():
            raise EnvironmentNotReady(f"{what} does not start: {self._last_words()}", remedy=remedy)

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def end(self) -> None:
        """Closes its standard input and waits; then ends it the hard way."""
        try:
            self._process.communicate(timeout=ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        self._ledger.remove(self._mark)

    def _echoes(self) -> bool:
        given, back = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        with suppress(BrokenPipeError):  # what it said is told by the caller
            given.write(b"\n")
            given.flush()
            return bool(select.select([back], [], [], STARTING_S)[0] and os.read(back.fileno(), 1))
        return False

    def _last_words(self) -> str:
        self._process.kill()
        _, said = self._process.communicate()
        self._ledger.remove(self._mark)
        return said.decode(errors="replace").strip() or f"no answer within {STARTING_S:.0f} s"
