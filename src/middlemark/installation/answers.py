"""What a program answers before it ends: within a time, and no more than there is room for.

Whoever wrote the program, it can neither keep its caller waiting nor fill its memory. Programs that live longer are
`worker.process`'s and `testbed.processes.child`'s.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, cast

MOST_BYTES = 16 << 20
_SHELLS_FIRST, _LOST_CONNECTION = 128, 255


def is_kill(exit_status: int) -> bool:
    """Whether a signal ended it, or what it waited for, which shells and Podman tell by a status above 128."""
    return exit_status < 0 or _SHELLS_FIRST < exit_status < _LOST_CONNECTION


class NoAnswer(Exception):
    """It did not end in time, or said too much; the text says which."""


@dataclass(frozen=True)
class Answer:
    """How it ended, and what it said until then."""

    exit_status: int
    output: bytes
    errors: bytes

    @property
    def complaint(self) -> str | None:
        """Why it failed, in its own words where it has any; None where it did not."""
        return (
            (self.errors.decode(errors="replace").strip() or f"status {self.exit_status}") if self.exit_status else None
        )


def answer_of(
    command: Sequence[str | os.PathLike[str]],
    *,
    within_s: float,
    most_bytes: int = MOST_BYTES,
    data: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> Answer:
    """Starts a program with this standard input and hears it to its end; it is ended where it goes beyond."""
    with tempfile.TemporaryFile() as given:
        given.write(data)
        given.seek(0)
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        with process:
            try:
                return _heard(process, time.monotonic() + within_s, most_bytes)
            except (NoAnswer, subprocess.TimeoutExpired) as cause:
                reason = str(cause) if isinstance(cause, NoAnswer) else f"it has not ended after {within_s:.0f} s"
                raise NoAnswer(reason) from cause
            finally:
                if process.returncode is None:  # until it is waited for, its number is its group's
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)


def _heard(process: subprocess.Popen[bytes], deadline: float, most_bytes: int) -> Answer:
    output, errors = cast("IO[bytes]", process.stdout), cast("IO[bytes]", process.stderr)
    buffers = {output.fileno(): bytearray(), errors.fileno(): bytearray()}
    with selectors.DefaultSelector() as selector:
        for number in buffers:
            selector.register(number, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(deadline - time.monotonic(), 0))
            if not ready and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired(process.args, 0)
            for key, _ in ready:
                part = os.read(key.fd, 1 << 16)
                buffers[key.fd] += part
                if not part:
                    selector.unregister(key.fd)
            if sum(map(len, buffers.values())) > most_bytes:
                raise NoAnswer(f"it says more than {most_bytes >> 20} MiB")
    status = process.wait(max(deadline - time.monotonic(), 0))
    return Answer(status, bytes(buffers[output.fileno()]), bytes(buffers[errors.fileno()]))
