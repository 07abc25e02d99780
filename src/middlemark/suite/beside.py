"""The files that a suite names: read from its folder, or from what was kept of them with a run.

Whoever plans a suite keeps what was read, so that it can be planned again where the files are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.errors import SuiteError
from middlemark.suite.model import refusal


@dataclass(frozen=True)
class Beside:
    """Where the files of one suite are."""

    folder: Path | None = None
    """None where only what was kept is there."""
    texts: dict[str, str] = field(default_factory=dict)
    """What was read so far, by the name in the suite."""

    @classmethod
    def kept(cls, texts: Mapping[str, str]) -> Beside:
        """What a run has kept."""
        return cls(None, dict(texts))

    def path(self, file: str) -> str:
        """How the file is named to the user."""
        return file if self.folder is None else str(self.folder / file)

    def read(self, file: str) -> bytes:
        """The file's content."""
        if file not in self.texts:
            self.texts[file] = self._text(file)
        return self.texts[file].encode()

    def _text(self, file: str) -> str:
        if self.folder is None:
            raise refusal(f"`{file}` was not kept with the run", allowed="the suite run again, from its file")
        try:
            return (self.folder / file).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise SuiteError("this is no text in UTF-8", file=self.path(file), allowed="a CSV file") from error
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or str(error)
            raise refusal(f"`{file}` can't be read: {said}", allowed=f"a CSV file in {self.folder}") from error
