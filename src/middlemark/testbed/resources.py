"""`middlemark-resources` on one machine: this one, for all its namespaces and containers, or one reached by SSH.

There it is copied beside the workers and checked by its hash as they are. What the samples mean, `analysis.resources`
says; its instants are turned to this machine's clock here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from middlemark.testbed.ledger import Ledger
from middlemark.testbed.observer import Observer, executable
from middlemark.testbed.ssh_host import SshHost

PERIOD_NS = 100_000_000


@dataclass
class Sampled:
    """All that an observer saw."""

    processes: list[dict[str, Any]] = field(default_factory=list)
    machine: list[dict[str, Any]] = field(default_factory=list)
    unavailable: dict[str, str] = field(default_factory=dict)


class Sampler:
    """An observer under way; `end` must follow."""

    def __init__(self, host: SshHost | None, pids: Mapping[str, int], ahead_ns: int, ledger: Ledger) -> None:
        """On another machine, whose clock is so far ahead of this one's; without a host on this one."""
        self._host = host.name if host else None
        self._ahead_ns = ahead_ns
        program = executable("resources")
        command = host.command([host.connection.copy_executable(program)]) if host else [str(program)]
        self._observer = Observer("samples resources", command, ledger)
        self._observer.begin({"period_ns": PERIOD_NS, "processes": pids})

    def watch(self, pids: Mapping[str, int]) -> None:
        """Samples these too."""
        self._observer.tell({"command": "watch", "processes": pids})

    def finish(self) -> Sampled:
        """Asks for the samples: until now the observer has said nothing, so as to disturb nobody."""
        self._observer.tell({"command": "stop"})
        sampled = Sampled()
        rows = {"process": sampled.processes, "machine": sampled.machine}
        while (said := self._observer.hear())["event"] != "done":
            row = said | {"at_ns": said["at_ns"] - self._ahead_ns}
            rows[row.pop("event")].append(row)
        for row in sampled.machine:
            row["host"] = self._host
        sampled.unavailable |= said["unavailable"]
        if said["missed"]:
            sampled.unavailable["samples"] = f"{said['missed']} were not taken: the observer was late"
        return sampled

    def end(self) -> None:
        """Ends the observer."""
        self._observer.end()
