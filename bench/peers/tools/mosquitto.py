"""mosquitto_pub and mosquitto_sub, the command-line clients that come with the broker, as a flood through it.

It says how they and a broker of their own are called and reads when messages arrived; round trips are not theirs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from peer import WARM_UP_S, Command, Load, Measured, Metric, Peer, Session, Site
from tools.references import BROKER_PORT, broker, broker_missing
from tools.socket_tools import missing

FLOOD = "middlemark_bench_peers_flood"
"""As long as the topic of a trial, as the broker reads each letter."""


def _session(load: Load, site: Site, seconds: float, folder: Path) -> Session:
    lasting = f"{seconds + 3:.0f}"
    common = f"-h 127.0.0.1 -p {BROKER_PORT} -q 0 -t {FLOOD}"
    line = "x" * load.size_bytes
    subscriber = ("mosquitto_sub", *common.split(), "-F", "%U", "-W", lasting)
    publisher = ("sh", "-c", f"yes {line} | exec mosquitto_pub {common} -l")

    def read(text: str) -> Measured:
        return arrivals(text, seconds)

    commands = (
        broker(site, folder),
        Command(subscriber, (site.receiver,)),
        Command(publisher, (site.sender,)),
    )
    return Session(commands, 1, read)


def arrivals(text: str, seconds: float) -> Measured:
    """How many messages came a second, once it has run for a while; each line is the instant of one."""
    lines = text.splitlines()[:-1]  # the last may be cut, or say that the time is over
    instants_s = np.array([float(line) for line in lines if line[:1].isdigit()])
    since_s = instants_s - instants_s[0] - WARM_UP_S
    return {Metric.RATE: np.count_nonzero((since_s >= 0) & (since_s < seconds)) / seconds}


CLIENTS = Peer("mosquitto_pub", lambda: missing("mosquitto_sub", "mosquitto-clients") or broker_missing(), _session)
