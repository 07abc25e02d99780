"""`middlemark-capture`: writes every frame on the links of a test-bed's namespaces into one file, cut and bounded.

It listens at the switch's ends, so that one process and one clock see all links; `wiring` has made these. What the
account says of a trial, the campaign knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from middlemark.plan import CaptureBounds
from middlemark.suite import Model
from middlemark.testbed.ledger import Ledger
from middlemark.testbed.observer import Observer, executable
from middlemark.testbed.wiring import Wiring


class Frames(Model):
    """What became of the frames of one link."""

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
        self._observer = Observer("captures frames", command, ledger)
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
        while (said := self._observer.hear())["event"] == "link":
            links[said["name"]] = Frames(**{name: said[name] for name in Frames.model_fields})
        return Captured(said["file_bytes"], links)

    def end(self) -> None:
        """Ends the observer."""
        self._observer.end()
