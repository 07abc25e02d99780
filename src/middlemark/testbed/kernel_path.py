"""`middlemark-kernel-path`: records what the kernel does for the processes of a trial, into one file.

Which of it is a message's path, `analysis.kernel_path` finds out afterwards; whom to follow, the campaign knows.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from middlemark.errors import EnvironmentNotReady
from middlemark.suite import Model
from middlemark.testbed.ledger import Ledger
from middlemark.testbed.observer import Observer, executable

_PATIENCE_S = 20


def missing() -> str | None:
    """Why the kernel can't be observed here; None where it can."""
    try:
        command = [str(executable("kernel-path")), "check"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except EnvironmentNotReady as error:
        return str(error)
    except subprocess.TimeoutExpired:
        return f"middlemark-kernel-path has not ended after {_PATIENCE_S} s"
    return None if result.returncode == 0 else result.stderr.strip() or f"status {result.returncode}"


class Recorded(Model):
    """What a recording holds beside its file."""

    events: int
    lost: int
    """Events that found no room: with any, the recording has gaps."""
    calls: dict[int, str]
    """The names of the system calls in it, by number."""


class KernelPath:
    """A recording under way; `end` must follow."""

    def __init__(
        self, recording: Path, processes: Sequence[int], ledger: Ledger, forwarders: Sequence[int] = ()
    ) -> None:
        """Of `forwarders`, which carry others' packets on, only those packets are recorded."""
        self._observer = Observer("records the kernel path", [str(executable("kernel-path"))], ledger)
        told: dict[str, object] = {"recording": str(recording), "processes": list(processes)}
        self._observer.begin(told | ({"forwarders": list(forwarders)} if forwarders else {}))

    def follow(self, processes: Sequence[int]) -> None:
        """Follows these too: their threads and their children, also those that come later."""
        self._observer.tell({"command": "follow", "processes": list(processes)})
        self._observer.hear("following")

    def finish(self) -> Recorded:
        """Completes the recording."""
        self._observer.tell({"command": "stop"})
        said = self._observer.hear("done")
        return Recorded(**{name: said[name] for name in Recorded.model_fields})

    def end(self) -> None:
        """Ends it, whether or not it is complete."""
        self._observer.end()
