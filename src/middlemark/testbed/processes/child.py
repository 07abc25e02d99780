"""Processes that the ledger knows from before their start, with its mark in their environment and their children's.

Each has a session of its own, so that a Ctrl-C is the front's alone, and ends with its standard input; who starts it
ends it. A `Lifeline` only lives, a `LineProcess` is told lines and answers, a `NativeProcess` speaks JSON.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady, EnvironmentUnusable
from middlemark.installation import FOLDERS_VARIABLE, OWN_UMASK, program_folders
from middlemark.installation.answers import is_kill
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.processes.procfs import MARK_VARIABLE

Pipe: TypeAlias = IO[bytes]
STARTING_S, ENDING_S = 30.0, 10.0
# Between its last word and its end.
REAPED_S = 1.0
# Far beyond what any of them needs to answer: it is over only when the machine hangs.
PATIENCE_S = 20.0
# Of all that one of them says: a sampler gives a row a process and sample, 10 Hz, at the end of a trial.
MOST_SAID_BYTES, LONGEST_LINE_BYTES = 256 << 20, 4 << 20
# Of what it logs beside: as much as a reader needs to know what is wrong.
MOST_REMARKS, LONGEST_REMARK = 20, 500
_PACKAGES = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2", "tc": "iproute2", "ethtool": "ethtool"}


def start(  # noqa: PLR0913 - a process has three streams
    name: str,
    command: Sequence[str],
    ledger: Ledger,
    *,
    stdin: int = subprocess.PIPE,
    stdout: int | None = subprocess.PIPE,
    stderr: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[subprocess.Popen[bytes], str]:
    """The process, which its `name` in the ledger says, and its mark; `environment` goes beyond this one's."""
    mark = ledger.enter("process", name)
    process = subprocess.Popen(
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env={**os.environ, MARK_VARIABLE: mark, **(environment or {})},
        start_new_session=True,
        umask=OWN_UMASK,
    )
    ledger.started(mark, process.pid)
    return process, mark


def was_killed(process: subprocess.Popen[bytes]) -> bool:
    """Whether what has nothing more to say was ended by a signal, or is a shell or Podman of which that is true."""
    try:
        return is_kill(process.wait(REAPED_S))
    except subprocess.TimeoutExpired:
        return False


class Lifeline:
    """A process that only lives, as what holds a container or a connection open does; it echoes to say that it runs."""

    def __init__(self, name: str, command: Sequence[str], ledger: Ledger, remedy: str) -> None:
        """Starts the command and returns when it echoes; raises with what it said instead."""
        self._ledger = ledger
        self._process, self._mark = start(name, command, ledger, stderr=subprocess.PIPE)
        if not self._echoes():
            kind = EnvironmentBroke if was_killed(self._process) else EnvironmentNotReady
            raise kind(f"{name} does not start: {self._last_words()}", remedy=remedy)

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def end(self) -> None:
        """Closes its standard input and waits; then ends it the hard way. What it still says nobody hears."""
        streams = [stream for stream in (self._process.stdin, self._process.stdout, self._process.stderr) if stream]
        with suppress(BrokenPipeError):
            streams[0].close()
        try:
            self._process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in streams:
            stream.close()
        self._ledger.remove(self._mark)

    def _echoes(self) -> bool:
        sent, echoed = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        with suppress(BrokenPipeError):  # what it said is told by the caller
            sent.write(b"\n")
            sent.flush()
            return bool(select.select([echoed], [], [], STARTING_S)[0] and os.read(echoed.fileno(), 1))
        return False

    def _last_words(self) -> str:
        self._process.kill()
        _, errors = self._process.communicate()
        self._ledger.remove(self._mark)
        return errors.decode(errors="replace").strip() or f"no answer within {STARTING_S:.0f} s"


class LineProcess:
    """A process that is told lines and answers in lines, a shell that holds namespaces, say; `end` must follow."""

    def __init__(self, doing: str, command: Sequence[str], ledger: Ledger) -> None:
        self._doing = doing
        self._ledger = ledger
        self._process, self.mark = start(doing, command, ledger, stderr=subprocess.STDOUT, environment={"LC_ALL": "C"})
        self._input, self._output = cast("Pipe", self._process.stdin), cast("Pipe", self._process.stdout)
        self._unread = bytearray()
        self._has_ended = False
        self._left_bytes = MOST_SAID_BYTES

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
        """The next line that it says; None where it says no more, or nothing for too long, or more than is heard."""
        deadline = time.monotonic() + PATIENCE_S
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            ready, _, _ = select.select([self._output], [], [], max(deadline - time.monotonic(), 0))
            part = os.read(self._output.fileno(), 65536) if ready else b""
            self._left_bytes -= len(part)
            self._has_ended = bool(ready) and not part
            if not part or self._left_bytes < 0 or searched > LONGEST_LINE_BYTES:
                end = searched
                break
            self._unread += part
        line = self._unread[:end].decode(errors="replace")
        is_whole = end < len(self._unread)
        del self._unread[: end + 1]
        return line if is_whole else line[:LONGEST_REMARK] or None

    @property
    def was_killed(self) -> bool:
        """Whether it says no more because somebody ended it."""
        return self._has_ended and was_killed(self._process)

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


class NativeProcess:
    """A program of `observers/` that speaks in lines of JSON; `end` must follow."""

    def __init__(self, doing: str, command: Sequence[str], ledger: Ledger) -> None:
        self._doing = doing
        self._child = LineProcess(doing, command, ledger)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._child.pid

    def begin(self, spec: Mapping[str, Any]) -> None:
        """Has it begin with what its spec says; ended where it refuses."""
        self.tell(spec)
        try:
            self.hear("ready")
        except EnvironmentUnusable:
            self.end()
            raise

    def tell(self, message: Mapping[str, Any]) -> None:
        """Tells it something."""
        self._child.tell(json.dumps(message))

    def hear(self, event: str | None = None) -> dict[str, Any]:
        """The next thing that it says, which must be this event."""
        complaints: list[str] = []
        while (line := self._child.line()) is not None:
            if not line.startswith("{"):  # its log
                if len(complaints) < MOST_REMARKS:
                    complaints.append(line[:LONGEST_REMARK])
                continue
            heard = _event(line)
            if heard is not None and event in {None, heard["event"]}:
                return heard
            complaints.append(line[:LONGEST_REMARK])
            break
        raise self._failure("; ".join(complaints) or "it said nothing")

    @contextmanager
    def understood(self) -> Iterator[None]:
        """What is made within of what it said may show that it was something else."""
        try:
            yield
        except (LookupError, TypeError, ValueError) as cause:
            reason = f"it said something else than it should: {type(cause).__name__}"
            raise self._failure(reason) from cause

    def _failure(self, reason: str) -> EnvironmentUnusable:
        kind = EnvironmentBroke if self._child.was_killed else EnvironmentNotReady
        return kind(
            f"what {self._doing} fails: {reason}",
            remedy="`middlemark doctor` says what a test-bed needs of this machine",
        )

    def end(self) -> None:
        """Ends it."""
        self._child.end()


def _event(line: str) -> dict[str, Any] | None:
    """What a line of JSON says; None where it is no event."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def executable(name: str) -> Path:
    """Where `middlemark-<name>` is."""
    for folder in program_folders():
        path = folder / f"middlemark-{name}"
        if os.access(path, os.X_OK) and path.is_file():
            return path.absolute()
    raise EnvironmentNotReady(
        f"there is no middlemark-{name} here",
        remedy=f"make workers; an observer elsewhere: {FOLDERS_VARIABLE}=FOLDER",
    )


def required(tool: str) -> str:
    """Where a program of the system is; system folders may be missing on an ordinary user's PATH."""
    path = shutil.which(tool, path=os.pathsep.join([*os.get_exec_path(), "/usr/sbin", "/sbin"]))
    if path is None:
        package = _PACKAGES.get(tool, tool)
        raise EnvironmentNotReady(
            f"`{tool}` is not installed, and hosts in namespaces need it", remedy=f"apt-get install {package}"
        )
    return path
