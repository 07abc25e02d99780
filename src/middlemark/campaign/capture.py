"""Has every frame on the links of a trial's namespaces kept in a file for Wireshark, from before T0 to the drain's end.

Interfaces of this machine and of others carry other traffic too, which nobody asked to be kept: they are never listened
at. What the frames mean, the dissectors that the middleware's worker names say.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from middlemark.campaign.observer import ObserverFile, TrialObserver
from middlemark.campaign.watching import Watch
from middlemark.campaign.wire import unread_hosts
from middlemark.results.files import write_with
from middlemark.results.record import CapturedLink, CaptureRecord
from middlemark.results.run_folder import TrialFolder
from middlemark.testbed.capture import Capture, Captured


@dataclass
class CaptureWatch(Watch):
    """The observation `capture`."""

    _observer: TrialObserver[Capture] = field(init=False)
    _file: ObserverFile | None = None
    _captured: Captured | None = None

    def __post_init__(self) -> None:
        self._observer = TrialObserver("capture", self.unavailable)

    def begin(self) -> None:
        """Listens from before any middleware is initialised."""
        self.unavailable |= unread_hosts(self.setting, "capture")
        wiring = self.setting.testbed.wiring
        if wiring is None:
            return
        self._file = ObserverFile(f"{self.setting.place.slot.name}-capture.pcapng", self.ledger)
        with self._observer.attempt():
            self._observer.running = Capture(self._file.path, self.setting.capture, wiring, self.ledger)

    def drained(self) -> None:
        """Completes the file."""
        if self._observer.running is not None:
            with self._observer.attempt():
                self._captured = self._observer.running.finish()
                self._tell_missing(self._captured)

    def found(self) -> Mapping[str, Any]:
        """The account of the frames."""
        return {**super().found(), "capture": self._record()}

    def keep(self, folder: TrialFolder) -> None:
        """The file, where it is complete; then nothing is left of it elsewhere."""
        if self._file is None:
            return
        if self._captured is not None:
            file = self._file.path
            write_with(folder.capture_path, lambda partial: shutil.copyfile(file, partial))
        self._file.remove()

    def end(self) -> None:
        """Ends the observer."""
        self._observer.end()

    def _tell_missing(self, captured: Captured) -> None:
        for what, reason in (
            ("beyond", "the file had its size: raise `capture: {most: …}`, or keep less of each with `snap`"),
            ("lost", "the observer was late"),
        ):
            if missing := sum(getattr(each, what) for each in captured.links.values()):
                self.unavailable[f"frames {what}"] = f"{missing} are not in the capture: {reason}"

    def _record(self) -> CaptureRecord | None:
        if self._captured is None:
            return None
        links = []
        for name, frames in self._captured.links.items():
            host, _, network = name.partition("/")
            links.append(CapturedLink(host=host, network=network, **frames.model_dump()))
        bounds = self.setting.capture
        return CaptureRecord(**bounds.model_dump(), file_bytes=self._captured.file_bytes, links=tuple(links))
