"""The reference programs in `programs/`, where no registry carries the vendor's own tool: each follows its method.

All are called alike: what to do, how large, for how long, and how messages are waited for; who asks prints each round
trip in nanoseconds, who counts prints messages and nanoseconds. `processes` runs them, `programs/build.sh` builds them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from middlemark.suite import Pattern
from peer import Command, Load, Measured, Metric, Peer, Session, Site

ROOT = Path(__file__).resolve().parents[3]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
BUILT = TARGET / "bench-peers"
BROKER_PORT = "21884"
DAEMONS = "/usr/sbin"
Service = Callable[[Site, Path], Command]
"""A process that both ends need, on the CPUs of a site, with a folder of its own."""


def reference(name: str, *, served: Service | None = None, is_written: bool = False) -> Peer:
    """The program of this name, with the service that its middleware needs.

    Where its method sends messages as they lie, it may be told to write and read each.
    """
    words = ("written",) if is_written else ()
    program = BUILT / name

    def why_missing() -> str | None:
        if not program.exists():
            return f"{name} is not built: bench/peers/programs/build.sh says why"
        return broker_missing() if served is broker else None

    def session(load: Load, site: Site, seconds: float, folder: Path) -> Session:
        is_ping_pong = load.pattern is Pattern.PING_PONG
        passive, active = ("pong", "ping") if is_ping_pong else ("count", "flood")
        services = (served(site, folder),) if served else ()
        ends = tuple(
            Command(
                (str(program), role, *_told(load, seconds), *words), (cpu,), _environment(folder), ends_with_input=True
            )
            for role, cpu in ((passive, site.receiver), (active, site.sender))
        )
        speaker = len(services) + (1 if is_ping_pong else 0)
        return Session((*services, *ends), speaker, round_trips if is_ping_pong else counted)

    return Peer("reference-written" if is_written else "reference", why_missing, session)


def _told(load: Load, seconds: float) -> tuple[str, ...]:
    return (str(load.size_bytes), f"{seconds:g}", load.delivery.value, load.reliability.value)


def _environment(folder: Path) -> dict[str, str]:
    return {"BENCH_PEERS_FOLDER": str(folder)}


def round_trips(text: str) -> Measured:
    """Each line is a round trip; each follows on the one before it."""
    taken_ns = np.array(text.split(), dtype=np.float64)
    return {
        Metric.MEDIAN: float(np.quantile(taken_ns, 0.5)),
        Metric.P99: float(np.quantile(taken_ns, 0.99)),
        Metric.RATE: 1e9 / float(taken_ns.mean()),
    }


def counted(text: str) -> Measured:
    """The last line: how many messages, in how many nanoseconds."""
    messages, nanoseconds = text.splitlines()[-1].split()
    return {Metric.RATE: int(messages) / int(nanoseconds) * 1e9}


def broker(site: Site, folder: Path) -> Command:
    """Mosquitto as our worker starts it, for anybody on loopback."""
    configuration = folder / "mosquitto.conf"
    # No limit of waiting messages, as in ours where publishers block; as shipped it is 1000.
    told = f"listener {BROKER_PORT} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nmax_queued_messages 0\n"
    configuration.write_text(told, encoding="utf-8")
    return Command((_broker() or "mosquitto", "-c", str(configuration)), (site.service,))


def broker_missing() -> str | None:
    """Why there is no broker."""
    return None if _broker() else "mosquitto is not installed: sudo apt-get install mosquitto"


def _broker() -> str | None:
    return shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:{DAEMONS}")


def routing_manager(site: Site, folder: Path) -> Command:
    """A process of vSomeIP's that lets the two ends find each other."""
    program = str(BUILT / "vsomeip")
    return Command((program, "serve", "0", "0", "library_thread", "best_effort"), (site.service,), _environment(folder))
