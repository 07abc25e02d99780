"""sockperf and iperf3, as Debian packages them: bare sockets, measured by tools that network engineers trust.

It says how they are called and reads what they print; `processes` runs them. Both block in the kernel for a message.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from middlemark.suite import Pattern
from peer import WARM_UP_S, Command, Load, Measured, Metric, Peer, Session, Site

ADDRESS, PORT = "127.0.0.1", "21111"
SOCKPERF_BEGINS = "Starting test"
"""It rests between its warm-up and its test."""


def missing(program: str, package: str) -> str | None:
    """Why a program of a Debian package can't run here."""
    return None if shutil.which(program) else f"{program} is not installed: sudo apt-get install {package}"


def sockperf(*, tcp: bool) -> Peer:
    """Its ping-pong, one thread at each end, and its throughput test, which counts what was sent."""
    protocol = ("--tcp",) if tcp else ()

    def session(load: Load, site: Site, seconds: float, _folder: Path) -> Session:
        where = ("--port", PORT, "--ip", ADDRESS, "--msg-size", str(load.size_bytes), "--time", f"{seconds + 1:.0f}")
        is_ping_pong = load.pattern is Pattern.PING_PONG
        # Its throughput test leaves Nagle's algorithm on, which our worker, like every messaging library, turns off.
        task = (
            ("ping-pong", "--full-rtt") if is_ping_pong else ("throughput", *(("--tcp-avoid-nodelay",) if tcp else ()))
        )
        server = Command(("sockperf", "server", *protocol, "--port", PORT, "--ip", ADDRESS), (site.receiver,))
        client = Command(("sockperf", *task, *protocol, *where), (site.sender,))
        read = sockperf_round_trips if is_ping_pong else sockperf_rate
        return Session((server, client), 1, read, announced_by=SOCKPERF_BEGINS)

    return Peer("sockperf", lambda: missing("sockperf", "sockperf"), session)


def sockperf_round_trips(text: str) -> Measured:
    """From its summary, whose times are whole round trips in microseconds."""
    valid = re.search(r"\[Valid Duration\] RunTime=([\d.]+) sec;.*ReceivedMessages=(\d+)", text)
    percentiles = {float(level): float(us) for level, us in re.findall(r"percentile\s+([\d.]+)\s*=\s*([\d.]+)", text)}
    if valid is None:
        raise ValueError("no [Valid Duration]")
    return {
        Metric.MEDIAN: 1e3 * percentiles[50.0],
        Metric.P99: 1e3 * percentiles[99.0],
        Metric.RATE: int(valid[2]) / float(valid[1]),
    }


def sockperf_rate(text: str) -> Measured:
    """From its summary."""
    found = re.search(r"Message Rate is (\d+) \[msg/sec\]", text)
    if found is None:
        raise ValueError("no Message Rate")
    return {Metric.RATE: float(found[1])}


def _iperf3_session(load: Load, site: Site, seconds: float, _folder: Path) -> Session:
    server = Command(("iperf3", "--server", "--one-off", "--bind", ADDRESS, "--port", PORT), (site.receiver,))
    told = ("--length", str(load.size_bytes), "--time", f"{seconds:g}", "--omit", f"{WARM_UP_S:.0f}", "--json")
    client = Command(("iperf3", "--client", ADDRESS, "--port", PORT, "--no-delay", *told), (site.sender,))

    def read(text: str) -> Measured:
        return iperf3_rate(text, load.size_bytes)

    return Session((server, client), 1, read)


def iperf3_rate(text: str, size_bytes: int) -> Measured:
    """How many writes' worth of bytes arrived a second."""
    received = json.loads(text)["end"]["sum_received"]
    return {Metric.RATE: received["bytes"] / received["seconds"] / size_bytes}


IPERF3 = Peer("iperf3", lambda: missing("iperf3", "iperf3"), _iperf3_session)
