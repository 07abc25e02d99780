"""One worker process: started in a session of its own, told lines of JSON, heard line by line, and always ended.

What it says goes to the `hear` callback in the order in which it comes, its end last; nothing is awaited or judged here
but the process's own end. It is ended by its pid and process group only; the ledger is the caller's business.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from middlemark.errors import WorkerFailed

E = TypeVar("E")

TAIL_BYTES = 8192
LONGEST_LINE_BYTES = 16 << 20
# How long its last words are waited for when the process has ended but a child of it holds its standard output.
LAST_WORDS_S = 0.5
# For the end of one that was interrupted while it started: it has nothing yet to put in order.
CANCELLED_PATIENCE_S = 1.0


@dataclass(frozen=True)
class Said(Generic[E]):
    """An event of the worker."""

    worker: str
    at_ns: int
    event: E


@dataclass(frozen=True)
class Junk:
    """A line that is no event of the contract."""

    worker: str
    at_ns: int
    line: str
    problem: str


@dataclass(frozen=True)
class Ended:
    """The process is gone."""

    worker: str
    at_ns: int
    exit_status: int
    """Negative for a signal."""


Heard: TypeAlias = Said[E] | Junk | Ended


class WorkerProcess(Generic[E]):
    """A running worker; use `start`."""

    # asyncio's own subprocesses count as ended only when their pipes are closed, which a child of a killed worker can
    # keep from happening; a pidfd tells of the process itself.

    def __init__(self, name: str, popen: subprocess.Popen[bytes], hear: Callable[[Heard[E]], None]) -> None:
        self.name = name
        self.pid = popen.pid
        self._popen = popen
        self._hear = hear
        self._gone = asyncio.Event()
        self._input: asyncio.WriteTransport
        self._listening: asyncio.Task[None]

    @classmethod
    async def start(  # noqa: PLR0913 - a process has so many sides
        cls,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        log: Path,
        events: TypeAdapter[E],
        hear: Callable[[Heard[E]], None],
    ) -> WorkerProcess[E]:
        """Starts the command; its standard error goes into the log."""
        popen = _spawn(command, environment, log)
        worker = cls(name, popen, hear)
        connecting = asyncio.create_task(worker._connect(events))
        try:
            await asyncio.shield(connecting)
        except asyncio.CancelledError:  # nobody else knows of the process yet
            await connecting
            await worker.end(CANCELLED_PATIENCE_S)
            raise
        return worker

    @property
    def exit_status(self) -> int | None:
        """Negative for a signal; None while it runs."""
        return self._popen.returncode

    def tell(self, message: BaseModel) -> None:
        """Writes one line to its standard input; where it is gone nothing happens, as its end is heard anyway."""
        if not self._input.is_closing():
            # What nobody fills is left out: a worker of an earlier day knows no newer field.
            self._input.write(message.model_dump_json(exclude_none=True).encode() + b"\n")

    async def end(self, patience_s: float) -> None:
        """Closes its standard input and waits; then ends its process group, the hard way at last."""
        self._input.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._signal(number)
            # Not `wait_for`: before Python 3.12 it loses an interruption that comes together with the end.
            with suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    await self._gone.wait()
                break
        await self._listening

    def _signal(self, number: signal.Signals) -> None:
        # Until the leader is waited for, its number is the group's, so no other group can be hit.
        if self._popen.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)
                os.killpg(self.pid, signal.SIGCONT)

    async def _connect(self, events: TypeAdapter[E]) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(LONGEST_LINE_BYTES)
        output, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), self._popen.stdout)
        self._input, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, self._popen.stdin)
        self._watch(loop)
        self._listening = asyncio.create_task(self._listen(reader, output, events))

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        descriptor = os.pidfd_open(self.pid)

        def reap() -> None:
            loop.remove_reader(descriptor)
            os.close(descriptor)
            self._popen.wait()
            self._gone.set()

        loop.add_reader(descriptor, reap)

    async def _listen(
        self, reader: asyncio.StreamReader, output: asyncio.ReadTransport, events: TypeAdapter[E]
    ) -> None:
        reading = asyncio.create_task(self._read(reader, events))
        await self._gone.wait()
        await asyncio.wait([reading], timeout=LAST_WORDS_S)
        reading.cancel()
        output.close()
        self._input.close()
        self._hear(Ended(self.name, time.monotonic_ns(), self._popen.returncode))

    async def _read(self, reader: asyncio.StreamReader, events: TypeAdapter[E]) -> None:
        while True:
            try:
                line = await reader.readline()
            except ValueError:  # what comes after it is no longer in step
                self._hear(Junk(self.name, time.monotonic_ns(), "", f"a line of over {LONGEST_LINE_BYTES} bytes"))
                return
            at_ns = time.monotonic_ns()
            if not line:
                return
            try:
                self._hear(Said(self.name, at_ns, events.validate_json(line)))
            except ValidationError as error:
                text = line.decode(errors="replace").rstrip()
                self._hear(Junk(self.name, at_ns, text, str(error.errors()[0]["msg"])))


def _spawn(command: Sequence[str], environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as log_file:
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_file,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerFailed(f"{command[0]} can't be started: {error.strerror}", exit_status=None) from error


def last_lines(log: Path, count: int = 10) -> tuple[str, ...]:
    """The last lines of a log; empty where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            return tuple(file.read().decode(errors="replace").splitlines()[-count:])
    except OSError:
        return ()
