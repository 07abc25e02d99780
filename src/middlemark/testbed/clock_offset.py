"""How far a remote host's clock is from this machine's: asked over its connection, and of PTP where that runs.

It asks `middlemark-probe clock` on the host, which must be among its executables; `clock_estimate` makes a figure of
the answers. What a bound means for a latency is the analysis' business.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed import marked_process
from middlemark.testbed.clock_estimate import ClockOffset, Exchange, PtpClock, by_ptp, estimate
from middlemark.testbed.host import Host
from middlemark.testbed.ledger import Ledger
from middlemark.testbed.ssh_host import SshHost

EXCHANGES = 300
ENDING_S = 10.0
PTP_QUERY = ("pmc", "-u", "-b", "0", "GET CURRENT_DATA_SET", "GET PARENT_DATA_SET", "GET PORT_DATA_SET")
PTP_QUERY_S = 5.0
_PTP_STATES = {"SLAVE", "MASTER", "GRAND_MASTER"}


@dataclass(frozen=True)
class Reading:
    """What a machine's clocks said."""

    monotonic_ns: int
    realtime_ns: int
    gap_ns: int


def measured(host: SshHost, probe: Path, ledger: Ledger) -> ClockOffset:
    """The offset of the host's monotonic clock now."""
    with _asking(host, probe, ledger) as (questions, answers):
        readings = [_exchange(questions, answers) for _ in range(EXCHANGES)]
    exchanged = estimate([exchange for exchange, _ in readings])
    if exchanged is None:
        raise EnvironmentNotReady(
            f"the clock of {host.name} was set while it was asked for", remedy="let it come to rest: chronyc waitsync"
        )
    here, there = ptp_clock(None, _reading_here()), ptp_clock(host, readings[-1][1])
    return by_ptp(exchanged, here, there) if here and there else exchanged


@contextmanager
def _asking(host: Host, probe: Path, ledger: Ledger) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    asking, mark = marked_process.start(
        f"asks for the clock of {host.name}", host.command([str(probe), "clock"]), ledger
    )
    try:
        yield cast("IO[bytes]", asking.stdin), cast("IO[bytes]", asking.stdout)
        asking.communicate(timeout=ENDING_S)
    finally:
        asking.kill()
        asking.communicate()
        ledger.remove(mark)


def _exchange(questions: IO[bytes], answers: IO[bytes]) -> tuple[Exchange, Reading]:
    asked_ns = time.monotonic_ns()
    try:
        questions.write(b"?")
        questions.flush()
        line = answers.readline()
    except BrokenPipeError:
        line = b""
    answered_ns = time.monotonic_ns()
    if not line:
        raise EnvironmentNotReady(
            "`middlemark-probe clock` has ended before it answered", remedy="try it on the host: it says why"
        )
    reading = Reading(**json.loads(line))
    return Exchange(asked_ns, reading.monotonic_ns, answered_ns), reading


def _reading_here() -> Reading:
    monotonic_ns = time.monotonic_ns()
    realtime_ns = time.time_ns()
    return Reading(monotonic_ns, realtime_ns, time.monotonic_ns() - monotonic_ns)


def ptp_clock(host: Host | None, reading: Reading) -> PtpClock | None:
    """The clock as linuxptp keeps it on a host, or on this machine; None where it does not."""
    command = PTP_QUERY if host is None else host.command(PTP_QUERY)
    try:
        asked = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PTP_QUERY_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parsed(asked.stdout, reading) if asked.returncode == 0 else None


def parsed(answers: str, reading: Reading) -> PtpClock | None:
    """What `pmc` says, one `name value` a line; None unless a port is locked to, or is, a grandmaster."""
    fields: dict[str, str] = {}
    for line in answers.splitlines():
        name, _, value = line.strip().partition(" ")
        fields.setdefault(name, value.strip())
    if fields.get("portState") not in _PTP_STATES or not {"grandmasterIdentity", "offsetFromMaster"} <= fields.keys():
        return None
    error_ns = abs(round(float(fields["offsetFromMaster"]))) + reading.gap_ns
    return PtpClock(fields["grandmasterIdentity"], reading.monotonic_ns, reading.realtime_ns, error_ns)
