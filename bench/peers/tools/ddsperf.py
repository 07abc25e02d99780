"""ddsperf, Cyclone DDS's own tool: Debian's, and one built from the sources of our worker's library.

It says how it is called and reads what it prints each second; `processes` runs it, `programs/build.sh` builds it.
"""

from __future__ import annotations

import re
from pathlib import Path
from statistics import mean, median

from middlemark.suite import Delivery, Pattern, Reliability
from peer import Command, Load, Measured, Metric, Peer, Session, Site
from tools.references import BUILT
from tools.socket_tools import missing

MODES = {Delivery.LIBRARY_THREAD: "listener", Delivery.OWN_THREAD: "waitset"}
DOMAIN = "77"
CONFIGURATION = "<General><Interfaces><NetworkInterface name='lo' multicast='true'/></Interfaces></General>"
"""On loopback alone, as our applications are; all else as shipped."""
LOOKING_S, LEFT_OUT_S = 1.0, 1.0
"""It is quiet for a second, whoever is there; of the seconds in which it sends the first is left out."""
_ROUND_TRIPS = re.compile(r"size \d+ mean .* 50% ([\d.]+)us .*99% ([\d.]+)us .*cnt (\d+)")
_RECEIVED = re.compile(r"rate ([\d.]+) kS/s")


def _peer(name: str, program: str, why_missing: str | None) -> Peer:
    def session(load: Load, site: Site, seconds: float, _folder: Path) -> Session:
        is_ping_pong = load.pattern is Pattern.PING_PONG
        mode, size = MODES[load.delivery], str(load.size_bytes)
        first, second = ("pong", f"ping size {size} {mode}") if is_ping_pong else ("sub", f"pub size {size}")
        common = (program, "-i", DOMAIN, *(() if load.reliability is Reliability.RELIABLE else ("-u",)))
        environment = {"CYCLONEDDS_URI": CONFIGURATION}
        passive = Command((*common, first, mode), (site.receiver,), environment)
        active = Command((*common, *second.split()), (site.sender,), environment)
        # One more, as who receives starts earlier than who sends.
        lasting = f"{LOOKING_S + LEFT_OUT_S + seconds + 1:.0f}"
        speaker = 1 if is_ping_pong else 0
        commands = [passive, active]
        spoken = commands[speaker]
        argv = (spoken.argv[0], "-D", lasting, *spoken.argv[1:])
        commands[speaker] = Command(argv, spoken.cpus, environment)
        return Session(tuple(commands), speaker, round_trips if is_ping_pong else received, LEFT_OUT_S)

    return Peer(name, lambda: why_missing, session)


def round_trips(text: str) -> Measured:
    """It prints half round trips, of at most the first 20000 of each second; a typical second's are taken."""
    seconds = _ROUND_TRIPS.findall(text)[1:]
    return {
        Metric.MEDIAN: 2e3 * median(float(p50) for p50, _, _ in seconds),
        Metric.P99: 2e3 * median(float(p99) for _, p99, _ in seconds),
        Metric.RATE: mean(int(count) for *_, count in seconds),
    }


def received(text: str) -> Measured:
    """The mean of the seconds but the first."""
    return {Metric.RATE: 1e3 * mean(float(rate) for rate in _RECEIVED.findall(text)[1:])}


_BUILT = BUILT / "ddsperf"
OF_DEBIAN = _peer("ddsperf-debian", "/usr/bin/ddsperf", missing("/usr/bin/ddsperf", "cyclonedds-tools"))
OF_SAME_SOURCES = _peer(
    "ddsperf",
    str(_BUILT),
    None if _BUILT.exists() else f"{_BUILT.name} is not built: bench/peers/programs/build.sh says why",
)
