"""A process that is told lines and answers in lines, in the ledger from before its start until after its end.

It ends when its standard input does, and so with its starter, however that ends. What is said, `holder` and `observer`
know.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, TypeAlias, cast

from middlemark.testbed import marked_process
from middlemark.testbed.ledger import Ledger

Pipe: TypeAlias = IO[bytes]
# Far beyond what any of them needs to answer: it is over only when the machine hangs.
PATIENCE_S = 20.0


class Child:
    """One such process; `end` must follow."""

    def __init__(self, doing: str, command: Sequence[str], ledger: Ledger) -> None:
        self._doing = doing
        self._ledger = ledger
        self._process, self.mark = marked_process.start(
            doing, command, ledger, stderr=subprocess.STDOUT, environment={"LC_ALL": "C"}
        )
        self._input, self._output = cast("Pipe", self._process.stdin), cast("Pipe", self._process.stdout)
        self._unread = b""

    @property
    def pid(self) -> int:
        """Who it is."""
        return self._process.pid

    def tell(self, text: str) -> None:
        """Writes to it; where it is gone nothing happens, as its last words are heard anyway."""
        with suppress(BrokenPipeError):
            self._input.write(text.encode() + b"\n")
            self._input.flush()

    def line(self) -> str | None:
        """The next line that it says; None where it says no more, or nothing for too long."""
        deadline = time.monotonic() + PATIENCE_S
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self._output], [], [], max(deadline - time.monotonic(), 0))
            part = os.read(self._output.fileno(), 65536) if ready else b""
            if not part:
                last, self._unread = self._unread, b""
                return last.decode(errors="replace") or None
            self._unread += part
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode(errors="replace")

    def end(self) -> None:
        """Closes its standard input and waits for its end, which is hastened where it doesn't come."""
        with suppress(BrokenPipeError):
            self._input.close()
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()
        self._ledger.remove(self.mark)
