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

import psutil
from pydantic import BaseModel, TypeAdapter, ValidationError

from middlemark.errors import WorkerFailed
from middlemark.installation import OWN_UMASK
from middlemark.results.files import writing

E = TypeVar("E")

TAIL_BYTES = 8192
LONGEST_LINE_BYTES = 4 << 20
# Of all that one process says, and of its log: far beyond what the largest trial needs.
MOST_SAID_BYTES, MOST_EVENTS, MOST_LOG_BYTES = 32 << 20, 50_000, 64 << 20
# Who takes the memory is to be killed, and not the front, which tells of it: proc_pid_oom_score_adj(5).
HIGHEST_OOM_SCORE = 1000
# Of a line that is no event, as it is kept.
JUNK_CHARACTERS = 500
# Who holds so much of the machine's memory, with so little left, takes all there is: the next to be killed.
MOST_MEMORY_SHARE, LEAST_MEMORY_LEFT_SHARE = 0.5, 0.05
# A log is the worker's own file, so that writing to it waits for nobody; it and the memory are looked at this often.
WATCH_S = 0.5
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
class TooMuch:
    """It said, logged or holds more than one process may; nothing more is heard of it but its end."""

    worker: str
    at_ns: int
    problem: str


@dataclass(frozen=True)
class Ended:
    """The process is gone."""

    worker: str
    at_ns: int
    exit_status: int
    """Negative for a signal."""


Heard: TypeAlias = Said[E] | Junk | TooMuch | Ended


class WorkerProcess(Generic[E]):
    """A running worker; use `start`."""

    # asyncio's own subprocesses count as ended only when their pipes are closed, which a child of a killed worker can
    # keep from happening; a pidfd tells of the process itself.

    def __init__(self, name: str, popen: subprocess.Popen[bytes], log: Path, hear: Callable[[Heard[E]], None]) -> None:
        self.name = name
        self._log = log
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
        worker = cls(name, popen, log, hear)
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

    def _close_input(self) -> None:
        # What is still unwritten would keep the pipe open as long as a child of the worker holds its other end.
        if self._input.get_write_buffer_size():
            self._input.abort()
        else:
            self._input.close()

    async def _connect(self, events: TypeAdapter[E]) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(LONGEST_LINE_BYTES)
        output, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), self._popen.stdout)
        self._input, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, self._popen.stdin)
        self._watch_end(loop)
        self._listening = asyncio.create_task(self._listen(reader, output, events))

    def _watch_end(self, loop: asyncio.AbstractEventLoop) -> None:
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
        watching = asyncio.create_task(self._watch_use())
        await self._gone.wait()
        watching.cancel()
        await asyncio.wait([reading], timeout=LAST_WORDS_S)
        reading.cancel()
        output.close()
        self._close_input()
        _cut(self._log)
        self._hear(Ended(self.name, time.monotonic_ns(), self._popen.returncode))

    async def _read(self, reader: asyncio.StreamReader, events: TypeAdapter[E]) -> None:
        left_bytes = MOST_SAID_BYTES
        for _ in range(MOST_EVENTS):
            try:
                line = await reader.readline()
            except ValueError:  # what comes after it is no longer in step
                self._refuse(f"wrote a line of over {LONGEST_LINE_BYTES} bytes")
                return
            if not line:
                return
            left_bytes -= len(line)
            if left_bytes < 0:
                self._refuse(f"wrote events of over {MOST_SAID_BYTES} bytes")
                return
            self._hear(self._understood(line, events))
        self._refuse(f"wrote more than {MOST_EVENTS} events")

    def _understood(self, line: bytes, events: TypeAdapter[E]) -> Said[E] | Junk:
        at_ns = time.monotonic_ns()
        try:
            return Said(self.name, at_ns, events.validate_json(line))
        except ValidationError as error:
            text = line.decode(errors="replace").rstrip()[:JUNK_CHARACTERS]
            return Junk(self.name, at_ns, text, str(error.errors(include_input=False)[0]["msg"])[:JUNK_CHARACTERS])

    async def _watch_use(self) -> None:
        while not (problem := _overuse(self._log, self.pid)):  # noqa: ASYNC110 - it is another process that writes
            await asyncio.sleep(WATCH_S)
        self._refuse(problem)

    def _refuse(self, problem: str) -> None:
        self._hear(TooMuch(self.name, time.monotonic_ns(), problem))


def _spawn(command: Sequence[str], environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    with writing(log):
        log_file = log.open("ab")
    with log_file:
        try:
            popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_file,
                env={**os.environ, **environment},
                start_new_session=True,
                umask=OWN_UMASK,
            )
        except OSError as error:
            raise WorkerFailed(f"{command[0]} can't be started: {error.strerror}", exit_status=None) from error
    _kill_first_without_memory(popen.pid)
    return popen


def _kill_first_without_memory(pid: int) -> None:
    """Has the kernel kill it, and what it starts, before all other processes of the machine when memory runs out."""
    with suppress(OSError):  # it is gone
        Path(f"/proc/{pid}/oom_score_adj").write_text(str(HIGHEST_OOM_SCORE), encoding="ascii")


def _overuse(log: Path, pid: int) -> str:
    """Of the disk, or of memory before the machine has none left for the trials after this one; empty where of none."""
    if _size_bytes(log) > MOST_LOG_BYTES:
        return f"wrote a log of over {MOST_LOG_BYTES} bytes"
    page_bytes = os.sysconf("SC_PAGESIZE")
    held_bytes, total_bytes = _resident_pages(pid) * page_bytes, os.sysconf("SC_PHYS_PAGES") * page_bytes
    is_most = held_bytes >= MOST_MEMORY_SHARE * total_bytes
    left_bytes = psutil.virtual_memory().available if is_most else total_bytes
    if left_bytes > LEAST_MEMORY_LEFT_SHARE * total_bytes:
        return ""
    held, total, left = (f"{n / 2**30:.1f} GiB" for n in (held_bytes, total_bytes, left_bytes))
    return f"took {held} of the machine's {total} of memory, of which {left} were left"


def _resident_pages(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return 0


def _size_bytes(log: Path) -> int:
    with suppress(OSError):
        return log.stat().st_size
    return 0


def _cut(log: Path) -> None:
    """What it wrote before anyone looked goes too."""
    if _size_bytes(log) > MOST_LOG_BYTES:
        with suppress(OSError):
            os.truncate(log, MOST_LOG_BYTES)


def last_lines(log: Path, count: int = 10) -> tuple[str, ...]:
    """The last lines of a log; empty where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            # Who writes without end may write faster than it is read.
            return tuple(file.read(TAIL_BYTES).decode(errors="replace").splitlines()[-count:])
    except OSError:
        return ()
