"""Has every frame on the links of a trial's namespaces kept in a file for Wireshark, from before T0 to the drain's end.

Interfaces of this machine and of others carry other traffic too, which nobody asked to be kept: they are never listened
at. What the frames mean, the dissectors that the middleware's worker names say.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from middlemark.analysis.record import CapturedLink, CaptureRecord
from middlemark.analysis.run_folder import TrialFolder
from middlemark.campaign.watching import Watch
from middlemark.campaign.wire import unread_hosts
from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.capture import Capture, Captured


@dataclass
class CaptureWatch(Watch):
    """The observation `capture`."""

    _observer: Capture | None = None
    _marks: list[str] = field(default_factory=list)
    _file: Path | None = None
    _captured: Captured | None = None

    def begin(self) -> None:
        """Listens from before any middleware is initialised."""
        self.unavailable |= unread_hosts(self.setting, "capture")
        wiring = self.setting.testbed.wiring
        if wiring is None:
            return
        self._file = Path(tempfile.gettempdir()) / f"{self.setting.place.slot.name}-capture.pcapng"
        self._marks.append(self.ledger.enter("file", self._file))
        try:
            self._observer = Capture(self._file, self.setting.capture, wiring, self.ledger)
        except (EnvironmentNotReady, OSError) as lacking:
            self._lacks(lacking)

    def drained(self) -> None:
        """Completes the file."""
        if self._observer is None:
            return
        try:
            self._captured = self._observer.finish()
        except (EnvironmentNotReady, OSError) as broken:
            self._lacks(broken)
            return
        for what, reason in (
            ("beyond", "the file had its size: raise `capture: {most: …}`, or keep less of each with `snap`"),
            ("lost", "the observer was late"),
        ):
            if missing := sum(getattr(each, what) for each in self._captured.links.values()):
                self.unavailable[f"frames {what}"] = f"{missing} are not in the capture: {reason}"

    def found(self) -> Mapping[str, Any]:
        """The account of the frames."""
        return {**super().found(), "capture": self._record()}

    def keep(self, folder: TrialFolder) -> None:
        """The file, where it is complete; then nothing is left of it elsewhere."""
        if self._captured is not None and self._file is not None:
            partial = folder.capture_path.with_suffix(".partial")
            shutil.copyfile(self._file, partial)
            partial.replace(folder.capture_path)
        self.ledger.remove(*self._marks)
        self._marks.clear()

    def end(self) -> None:
        """Ends the observer."""
        if self._observer is not None:
            with suppress(OSError):
                self._observer.end()
            self._observer = None

    def _lacks(self, reason: Exception) -> None:
        self.unavailable["capture"] = " ".join(str(reason).splitlines())
        self.end()

    def _record(self) -> CaptureRecord | None:
        if self._captured is None:
            return None
        links = []
        for name, frames in self._captured.links.items():
            host, _, network = name.partition("/")
            links.append(CapturedLink(host=host, network=network, **frames.model_dump()))
        bounds = self.setting.capture
        return CaptureRecord(**bounds.model_dump(), file_bytes=self._captured.file_bytes, links=tuple(links))
