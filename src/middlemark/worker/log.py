"""The last lines of a worker's log, for an error that says why.

It reads only the end of the file, however long the log is.
"""

from __future__ import annotations

from pathlib import Path

TAIL_BYTES = 8192


def last_lines(log: Path, count: int = 10) -> tuple[str, ...]:
    """The last lines of a log; empty where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            return tuple(file.read().decode(errors="replace").splitlines()[-count:])
    except OSError:
        return ()
