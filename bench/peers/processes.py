"""Runs the processes of a peer: each on its CPUs, all ended at the end, and what they took of the CPUs meanwhile.

It knows no tool; `peer.Session` says what is started and who speaks. Our own side is started by `ours`.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil

from middlemark.testbed.processes.child import start
from middlemark.testbed.processes.ledger import Ledger
from peer import Command, Measured, Metric, Session

SETTLING_S = 0.5
"""After which a process is taken to wait for those that are started after it."""
PATIENCE_S = 20.0
ENDING_S = 3.0
BUSY_SHARE, BUSY_FOR_S = 0.1, 0.2
"""Of a core, and for how long, from when on its ends are taken to exchange messages: starting them takes less."""

LOOKING_EACH_S = 0.02


class PeerFailedError(Exception):
    """A peer did not come to its end, or said nothing that could be read."""


def measured(session: Session, seconds: float, folder: Path, entries: Ledger) -> Measured:
    """What the session's speaker says, and the CPU time of all for each message, unless it ended meanwhile."""
    with ExitStack() as stack:
        running: list[subprocess.Popen[bytes]] = []
        for number, command in enumerate(session.commands):
            if running:
                time.sleep(SETTLING_S)
            running.append(stack.enter_context(peer_process(command, folder / f"{number}.log", entries)))
        if session.announced_by:
            wait_announced(session.announced_by, folder / f"{session.speaker}.log")
        else:
            wait_busy(running)
        time.sleep(session.preparing_s)
        share = _cpu_share(running, 0.8 * seconds)
        is_counted = running[session.speaker].poll() is None
        _awaited(running[session.speaker], seconds, folder)
    text = (folder / f"{session.speaker}.log").read_text(encoding="utf-8", errors="replace")
    try:
        values = dict(session.read(text))
    except (ValueError, IndexError, KeyError) as error:
        raise PeerFailedError(f"{session.commands[session.speaker].argv[0]} said: {text[-400:]!r}") from error
    if not values[Metric.RATE] or (is_counted and not share):
        raise PeerFailedError(f"{session.commands[session.speaker].argv[0]} sent nothing while it was watched")
    spent = {Metric.CPU: 1e9 * share / values[Metric.RATE]} if is_counted else {}
    return {Metric.UNFILLED: values[Metric.RATE]} | values | spent


@contextmanager
def peer_process(command: Command, log: Path, entries: Ledger) -> Iterator[subprocess.Popen[bytes]]:
    """The process, which is ended with the context."""
    cpus = ",".join(map(str, command.cpus))
    with log.open("wb") as output, log.with_suffix(".errors").open("wb") as errors:
        process, mark = start(
            command.argv[0],
            ["taskset", "--cpu-list", cpus, *command.argv],
            entries,
            stdout=output.fileno(),
            stderr=errors.fileno(),
            environment=command.environment,
        )
    try:
        yield process
    finally:
        _end(process, ENDING_S if command.ends_with_input else 0)
        entries.remove(mark)


def _end(process: subprocess.Popen[bytes], alone_s: float) -> None:
    """By itself within this time after its standard input was closed, else by a signal."""
    members = _members(process)
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(alone_s)
    for send in (psutil.Process.terminate, psutil.Process.kill):
        for member in members:
            with suppress(psutil.NoSuchProcess):
                send(member)
        _, members = psutil.wait_procs(members, ENDING_S)
    process.wait()


def _awaited(process: subprocess.Popen[bytes], seconds: float, folder: Path) -> None:
    try:
        process.wait(seconds + PATIENCE_S)
    except subprocess.TimeoutExpired:
        said = " | ".join(log.read_text(errors="replace")[-200:] for log in sorted(folder.glob("[0-9].*")))
        raise PeerFailedError(f"{process.args!r} has not ended; the last words of all: {said}") from None


def wait_busy(running: Sequence[subprocess.Popen[bytes]]) -> None:
    """Until the ends have found each other: before that they cost next to nothing, and would seem cheap."""
    until_s = time.monotonic() + PATIENCE_S
    while _cpu_share(running, BUSY_FOR_S) < BUSY_SHARE:
        if time.monotonic() > until_s:
            raise PeerFailedError(f"{running[-1].args!r}: nothing was exchanged for {PATIENCE_S:g} s")


def wait_announced(words: str, log: Path) -> None:
    """Until the speaker has said so: one that works and rests by turns may be missed when it is busy."""
    until_s = time.monotonic() + PATIENCE_S
    while words not in log.read_text(encoding="utf-8", errors="replace"):
        if time.monotonic() > until_s:
            raise PeerFailedError(
                f"{words!r} was not said for {PATIENCE_S:g} s: {log.read_text(errors='replace')[-200:]}"
            )
        time.sleep(LOOKING_EACH_S)


def _cpu_share(running: Sequence[subprocess.Popen[bytes]], seconds: float) -> float:
    """How much of a core they take, all together."""
    begin_s, before_ns = time.monotonic(), _spent_ns(running)
    time.sleep(seconds)
    return (_spent_ns(running) - before_ns) / 1e9 / (time.monotonic() - begin_s)


def _spent_ns(running: Sequence[subprocess.Popen[bytes]]) -> int:
    """The run time of all their threads, in the scheduler's own nanoseconds: ticks would be too coarse."""
    members = [member for process in running for member in _members(process)]
    files = [file for member in members for file in Path(f"/proc/{member.pid}/task").glob("*/schedstat")]
    spent_ns = 0
    for file in files:
        with suppress(OSError):  # a thread that has just ended
            spent_ns += int(file.read_text().split()[0])
    return spent_ns


def _members(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        first = psutil.Process(process.pid)
        return [first, *first.children(recursive=True)]
    return []
