"""The programs `middlemark-capture`, `middlemark-resources` and `middlemark-kernel-path`, which observe a trial.

A capture listens at the switch's ends of all links; resources are sampled on this machine or on one reached by SSH, by
this machine's clock; the kernel's path is recorded on this machine only. What it all means of a trial, `analysis` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from middlemark.errors import EnvironmentUnusable
from middlemark.installation.answers import NoAnswer, answer_of
from middlemark.plan import CaptureBounds
from middlemark.results.tables import MACHINE_SCHEMA, PROCESSES_SCHEMA
from middlemark.suite import Model
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.network.wiring import Wiring
from middlemark.testbed.processes.child import NativeProcess, executable
from middlemark.testbed.processes.ledger import Ledger

PERIOD_NS = 100_000_000
"""Between two samples of resources."""
_PATIENCE_S = 20


class Frames(Model):
    """The counts of the frames of one link."""

    captured: int
    cut: int
    beyond: int
    lost: int


@dataclass(frozen=True)
class Captured:
    """A capture that is complete."""

    file_bytes: int
    links: Mapping[str, Frames]
    """By link, `host/network`."""


class Capture:
    """A capture under way; `end` must follow."""

    def __init__(self, file: Path, bounds: CaptureBounds, wiring: Wiring, ledger: Ledger) -> None:
        command = [*wiring.switch.entering("net"), str(executable("capture"))]
        self._observer = NativeProcess("captures frames", command, ledger)
        self._observer.begin(
            {
                "file": str(file),
                **bounds.model_dump(),
                "links": [{"name": wire.name, "interface": wire.peer} for wire in wiring.wires],
            }
        )

    def finish(self) -> Captured:
        """Completes the file."""
        self._observer.tell({"command": "stop"})
        links: dict[str, Frames] = {}
        with self._observer.understood():
            while (event := self._observer.hear())["event"] == "link":
                links[event["name"]] = Frames(**{name: event[name] for name in Frames.model_fields})
            return Captured(int(event["file_bytes"]), links)

    def end(self) -> None:
        """Ends the observer."""
        self._observer.end()


@dataclass
class Sampled:
    """All that an observer saw."""

    processes: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PROCESSES_SCHEMA))
    machine: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=MACHINE_SCHEMA))
    unavailable: dict[str, str] = field(default_factory=dict)


def _frame(rows: list[dict[str, Any]], schema: pl.Schema) -> pl.DataFrame:
    try:
        return pl.DataFrame(rows, schema=schema)
    except (pl.exceptions.PolarsError, OverflowError) as cause:
        raise ValueError(str(cause)) from cause


class Sampler:
    """A sampler of resources under way; `end` must follow."""

    def __init__(self, host: SshHost | None, pids: Mapping[str, int], ahead_ns: int, ledger: Ledger) -> None:
        """On another machine, whose clock is so far ahead of this one's; without a host on this one."""
        self._host = host.name if host else None
        self._ahead_ns = ahead_ns
        program = executable("resources")
        command = host.command([host.connection.copy_executable(program)]) if host else [str(program)]
        self._observer = NativeProcess("samples resources", command, ledger)
        self._observer.begin({"period_ns": PERIOD_NS, "processes": pids})

    def watch(self, pids: Mapping[str, int]) -> None:
        """Samples these too."""
        self._observer.tell({"command": "watch", "processes": pids})

    def finish(self) -> Sampled:
        """Requests the samples: until now the observer has sent nothing, so as to disturb nobody."""
        self._observer.tell({"command": "stop"})
        sampled, rows = Sampled(), {"process": list[dict[str, Any]](), "machine": list[dict[str, Any]]()}
        with self._observer.understood():
            while (event := self._observer.hear())["event"] != "done":
                row = event | {"at_ns": event["at_ns"] - self._ahead_ns}
                rows[row.pop("event")].append(row)
            for row in rows["machine"]:
                row["host"] = self._host
            sampled.processes = _frame(rows["process"], PROCESSES_SCHEMA)
            sampled.machine = _frame(rows["machine"], MACHINE_SCHEMA)
            sampled.unavailable |= {str(name): str(why) for name, why in dict(event["unavailable"]).items()}
            if event["missed"]:
                sampled.unavailable["samples"] = f"{event['missed']} were not taken: the observer was late"
        return sampled

    def end(self) -> None:
        """Ends the observer."""
        self._observer.end()


def kernel_path_missing() -> str | None:
    """Why the kernel can't be observed here; None where it can."""
    try:
        answer = answer_of([executable("kernel-path"), "check"], within_s=_PATIENCE_S)
    except EnvironmentUnusable as error:
        return str(error)
    except NoAnswer as reason:
        return f"middlemark-kernel-path can't check it: {reason}"
    return answer.complaint


class Lost(Model):
    """What a recording lacks, by why: with any, it has gaps."""

    without_room: int
    """Events, processes, sockets and packets that found no room."""
    nested: int
    """Events within another one of the same kind, for which the kernel ran no program."""
    unseen: int
    """Packets that a device has sent, and for which the kernel ran no program."""

    @property
    def whole(self) -> int:
        """All of it."""
        return self.without_room + self.nested + self.unseen

    def __str__(self) -> str:
        """How much was lost, and why."""
        reasons = {
            "no room for them, as the observer was late or there was too much to follow": self.without_room,
            "events within another one of the same kind": self.nested,
            "packets that the kernel did not tell of": self.unseen,
        }
        why = "; ".join(f"{reason}: {count}" for reason, count in reasons.items() if count)
        return f"{self.whole} lost ({why})"


class Recorded(Model):
    """What a recording holds beside its file."""

    events: int
    lost: Lost
    calls: dict[int, str]
    """The names of the system calls in it, by number."""


class KernelPath:
    """A recording under way; `end` must follow."""

    def __init__(
        self,
        recording: Path,
        processes: Sequence[int],
        ledger: Ledger,
        *,
        forwarders: Sequence[int] = (),
        switches: Sequence[int] = (),
    ) -> None:
        """Of `forwarders`, which forward others' packets, only those packets are recorded.

        `switches` are processes in the namespaces between hosts: what devices there send is counted too.
        """
        self._observer = NativeProcess("records the kernel path", [str(executable("kernel-path"))], ledger)
        self._observer.begin(
            {
                "recording": str(recording),
                "processes": list(processes),
                "forwarders": list(forwarders),
                "switches": list(switches),
            }
        )

    def follow(self, processes: Sequence[int]) -> None:
        """Follows these too: their threads and their children, also those that come later."""
        self._observer.tell({"command": "follow", "processes": list(processes)})
        self._observer.hear("following")

    def finish(self) -> Recorded:
        """Completes the recording."""
        self._observer.tell({"command": "stop"})
        with self._observer.understood():
            event = self._observer.hear("done")
            return Recorded(**{name: event[name] for name in Recorded.model_fields})

    def end(self) -> None:
        """Ends it, whether or not it is complete."""
        self._observer.end()
