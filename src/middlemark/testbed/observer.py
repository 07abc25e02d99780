"""The native helpers of `observers/`: where they are, and one under way that speaks in lines of JSON.

What each is told and says, the module of its name knows: `capture`, `kernel_path`, `resources`, `probe`, `link.relay`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.child import Child
from middlemark.testbed.ledger import Ledger

CHECKOUT = Path(__file__).resolve().parents[3]
# Where workers are looked for: observers are built beside them.
FOLDERS_VARIABLE = "MIDDLEMARK_WORKERS"


def executable(name: str) -> Path:
    """Where `middlemark-<name>` is."""
    for folder in _folders():
        path = folder / f"middlemark-{name}"
        if os.access(path, os.X_OK) and path.is_file():
            return path.absolute()
    raise EnvironmentNotReady(
        f"there is no middlemark-{name} here",
        remedy=f"make workers; an observer elsewhere: {FOLDERS_VARIABLE}=FOLDER",
    )


def _folders() -> Iterator[Path]:
    yield from (Path(folder) for folder in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if folder)
    yield Path(os.environ.get("CARGO_TARGET_DIR") or CHECKOUT / "target") / "release"
    yield from (Path(folder) for folder in os.get_exec_path())


class Observer:
    """A running observer; `end` must follow."""

    def __init__(self, doing: str, command: Sequence[str], ledger: Ledger) -> None:
        self._doing = doing
        self._child = Child(doing, command, ledger)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._child.pid

    def begin(self, spec: Mapping[str, Any]) -> None:
        """Has it begin with what its spec says; ended where it refuses."""
        self.tell(spec)
        try:
            self.hear("ready")
        except EnvironmentNotReady:
            self.end()
            raise

    def tell(self, message: Mapping[str, Any]) -> None:
        """Tells it something."""
        self._child.tell(json.dumps(message))

    def hear(self, event: str | None = None) -> dict[str, Any]:
        """The next thing that it says, which must be this event."""
        complaints = []
        while (line := self._child.line()) is not None:
            if not line.startswith("{"):  # its log
                complaints.append(line)
                continue
            said: dict[str, Any] = json.loads(line)
            if event is None or said.get("event") == event:
                return said
            complaints.append(line)
            break
        reason = "; ".join(complaints) or "it said nothing"
        raise EnvironmentNotReady(
            f"what {self._doing} fails: {reason}",
            remedy="`middlemark doctor` says what a test-bed needs of this machine",
        )

    def end(self) -> None:
        """Ends it."""
        self._child.end()
