"""Measures the offset of another machine's clock: over its connection, and by PTP where that runs.

Each question and answer of `middlemark-probe clock`, one of the host's executables, says between which two values the
offset lies, whatever the times there and back; together they say it more narrowly. What it makes of latencies is
`analysis`'.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady
from middlemark.installation.answers import NoAnswer, answer_of
from middlemark.testbed.hosts.host import Host
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.processes.child import LONGEST_REMARK, LineProcess
from middlemark.testbed.processes.ledger import Ledger

# Faster than this no clock runs away from another: Linux slews at most 500 ppm, to each side (adjtimex(2)).
MOST_DRIFT = 1e-3

EXCHANGES = 300
PTP_QUERY = ("pmc", "-u", "-b", "0", "GET CURRENT_DATA_SET", "GET PARENT_DATA_SET", "GET PORT_DATA_SET")
PTP_QUERY_S, PTP_ANSWER_BYTES = 5.0, 1 << 20
_PTP_STATES = {"SLAVE", "MASTER", "GRAND_MASTER"}
Source = Literal["exchanges", "ptp"]


@dataclass(frozen=True)
class Exchange:
    """One question and its answer: this machine's clock before and after, the other's in between."""

    asked_ns: int
    there_ns: int
    answered_ns: int

    @property
    def round_trip_ns(self) -> int:
        """From the question to its answer."""
        return self.answered_ns - self.asked_ns


@dataclass(frozen=True)
class ClockOffset:
    """The other clock minus this one: the truth is at most the bound away from the offset."""

    offset_ns: int
    bound_ns: int
    source: Source = "exchanges"

    @classmethod
    def between(cls, low_ns: float, high_ns: float, source: Source = "exchanges") -> ClockOffset:
        """The narrowest that holds both."""
        middle = round((low_ns + high_ns) / 2)
        return cls(middle, math.ceil(max(high_ns - middle, middle - low_ns, 0)), source)

    @property
    def low_ns(self) -> int:
        """The least that it may be."""
        return self.offset_ns - self.bound_ns

    @property
    def high_ns(self) -> int:
        """The most that it may be."""
        return self.offset_ns + self.bound_ns


def estimate(exchanges: Sequence[Exchange]) -> ClockOffset | None:
    """The offset at the quickest exchange; None where the exchanges contradict each other, as when a clock was set."""
    quickest = min(exchanges, key=lambda exchange: exchange.round_trip_ns)
    reference_ns = (quickest.asked_ns + quickest.answered_ns) // 2
    ranges = [_range(exchange, reference_ns) for exchange in exchanges]
    low, high = max(low for low, _ in ranges), min(high for _, high in ranges)
    return None if low > high else ClockOffset.between(low, high)


def _range(exchange: Exchange, reference_ns: int) -> tuple[float, float]:
    """What one exchange allows the offset to be at the reference, while the clocks drift as fast as they may."""
    apart_ns = max(abs(exchange.asked_ns - reference_ns), abs(exchange.answered_ns - reference_ns))
    drift_ns = MOST_DRIFT * apart_ns
    return exchange.there_ns - exchange.answered_ns - drift_ns, exchange.there_ns - exchange.asked_ns + drift_ns


def over_window(before: ClockOffset, after: ClockOffset) -> ClockOffset:
    """One offset for all instants between two estimates, which it holds both: what the clocks drift is in its bound."""
    source: Source = "ptp" if before.source == after.source == "ptp" else "exchanges"
    return ClockOffset.between(min(before.low_ns, after.low_ns), max(before.high_ns, after.high_ns), source)


def by_ptp(exchanged: ClockOffset, here: PtpClock, there: PtpClock) -> ClockOffset:
    """The offset by two clocks that PTP keeps together, where it is narrower than by exchanges and not contradicted."""
    if here.grandmaster != there.grandmaster:
        return exchanged
    # Both count from the same instant of one time scale, so what differs is when each machine's own clock began.
    offset_ns = there.monotonic_ns - there.realtime_ns - (here.monotonic_ns - here.realtime_ns)
    ptp_offset = ClockOffset(offset_ns, here.error_ns + there.error_ns, "ptp")
    if ptp_offset.bound_ns >= exchanged.bound_ns:
        return exchanged
    contradicted = ptp_offset.high_ns < exchanged.low_ns or ptp_offset.low_ns > exchanged.high_ns
    return exchanged if contradicted else ptp_offset


@dataclass(frozen=True)
class PtpClock:
    """A machine's clocks and what keeps its time of day."""

    grandmaster: str
    monotonic_ns: int
    realtime_ns: int
    error_ns: int
    """How far its time of day may be from the grandmaster's, as far as PTP can see, and how far apart it was read."""


@dataclass(frozen=True)
class Reading:
    """What a machine's clocks said."""

    monotonic_ns: int
    realtime_ns: int
    gap_ns: int


def measured_offset(host: SshHost, probe: Path, ledger: Ledger) -> ClockOffset:
    """The offset of the host's monotonic clock now."""
    with _asking(host, probe, ledger) as asking:
        readings = [_exchange(asking, host) for _ in range(EXCHANGES)]
    exchanged = estimate([exchange for exchange, _ in readings])
    if exchanged is None:
        raise EnvironmentNotReady(
            f"the clock of {host.name} was set while it was measured",
            remedy="wait until it is synchronised: chronyc waitsync",
        )
    here, there = ptp_clock(None, _reading_here()), ptp_clock(host, readings[-1][1])
    return by_ptp(exchanged, here, there) if here and there else exchanged


@contextmanager
def _asking(host: Host, probe: Path, ledger: Ledger) -> Iterator[LineProcess]:
    asking = LineProcess(f"asks for the clock of {host.name}", host.command([str(probe), "clock"]), ledger)
    try:
        yield asking
    finally:
        asking.end()


def _exchange(asking: LineProcess, host: SshHost) -> tuple[Exchange, Reading]:
    asked_ns = time.monotonic_ns()
    asking.tell("")  # each byte, and so the end of a line, is answered once
    line = asking.line()
    answered_ns = time.monotonic_ns()
    try:
        reading = Reading(**{name: int(value) for name, value in dict(json.loads(line or "")).items()})
    except (ValueError, TypeError, RecursionError) as cause:
        answer = repr(line[:LONGEST_REMARK]) if line else "nothing: it has ended, or does not answer"
        # Where the connection ends, the client says so, and the probe is heard over another one, if at all.
        raise (EnvironmentNotReady if line and host.is_connected else EnvironmentBroke)(
            f"`middlemark-probe clock` says {answer}, not what the clock is", remedy="try it on the host: it says why"
        ) from cause
    return Exchange(asked_ns, reading.monotonic_ns, answered_ns), reading


def _reading_here() -> Reading:
    monotonic_ns = time.monotonic_ns()
    realtime_ns = time.time_ns()
    return Reading(monotonic_ns, realtime_ns, time.monotonic_ns() - monotonic_ns)


def ptp_clock(host: Host | None, reading: Reading) -> PtpClock | None:
    """The clock as linuxptp keeps it on a host, or on this machine; None where it does not."""
    command = PTP_QUERY if host is None else host.command(PTP_QUERY)
    try:
        answer = answer_of(command, within_s=PTP_QUERY_S, most_bytes=PTP_ANSWER_BYTES)
    except (OSError, NoAnswer):
        return None
    return None if answer.exit_status else parsed_ptp(answer.output.decode(errors="replace"), reading)


def parsed_ptp(answers: str, reading: Reading) -> PtpClock | None:
    """What `pmc` says, one `name value` a line; None unless a port is locked to, or is, a grandmaster."""
    fields: dict[str, str] = {}
    for line in answers.splitlines():
        name, _, value = line.strip().partition(" ")
        fields.setdefault(name, value.strip())
    if fields.get("portState") not in _PTP_STATES or not {"grandmasterIdentity", "offsetFromMaster"} <= fields.keys():
        return None
    try:
        error_ns = abs(round(float(fields["offsetFromMaster"]))) + reading.gap_ns
    except (ValueError, OverflowError):
        return None
    return PtpClock(fields["grandmasterIdentity"], reading.monotonic_ns, reading.realtime_ns, error_ns)
