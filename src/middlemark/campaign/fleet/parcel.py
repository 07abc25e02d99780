"""The trials of a block as one file: packed where they were measured, unpacked into the run where they belong.

Nothing in a parcel is trusted: names, sizes and records are held against what was handed out, and no trial is stored
before all of them are there. How the file travels, `front` and `testbed` know.
"""

from __future__ import annotations

import re
import shutil
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from middlemark.errors import StoreError
from middlemark.plan import Caution, Trial
from middlemark.results.files import PRIVATE, file_digest, folder_inside, make_folder, writing
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.results.trial_folder import TrialFolder
from middlemark.suite import Model
from middlemark.testbed.processes.archive import Refused, unpack

PIECE_BYTES: Final = 4 << 20
"""Of a parcel, at a time: what the front holds in memory of it."""
MOST_PARCEL_BYTES: Final = 64 << 30
UNPACKED_WITHIN_S: Final = 600.0
_FILE = re.compile(r"[0-9]+-[A-Za-z0-9._-]{1,150}/(logs/)?[A-Za-z0-9][A-Za-z0-9._-]{0,199}", re.ASCII)
"""What is in a trial's folder, or in the folder of its logs."""


class Parcel(Model):
    """A packed block, as the test-bed that measured it says."""

    path: str
    """On the test-bed."""
    size_bytes: Annotated[int, Field(ge=0, le=MOST_PARCEL_BYTES)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    shared: Annotated[str, Field(pattern=r"^middlemark-[0-9a-f]{16}-[0-9]+-[0-9a-f]{12}\.tar$")] | None = None
    """Its name in the store through which the fleet's blocks come back; None where it is on the test-bed alone."""

    @property
    def offsets(self) -> range:
        """Where its pieces begin."""
        return range(0, self.size_bytes, PIECE_BYTES)


def packed(run: RunFolder, trials: Iterable[Trial], into: Path) -> Parcel:
    """Packs the folders of these trials, which must be stored."""
    with writing(into), tarfile.open(into, "w") as archive:
        for trial in trials:
            folder = run.trial(trial.id).path
            for file in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
                archive.add(file, f"{trial.id}/{file.relative_to(folder)}")
    return Parcel(path=str(into), size_bytes=into.stat().st_size, sha256=file_digest(into))


def check_digest(parcel: Parcel, path: Path) -> None:
    """Refuses what did not arrive as it was sent."""
    if file_digest(path) != parcel.sha256:
        raise StoreError(path, "it is not what the test-bed sent: its SHA-256 differs")


@contextmanager
def arriving(run: RunFolder) -> Iterator[Path]:
    """A folder within the run for what arrives; it is removed in the end, and so is what a killed front left there."""
    folder = folder_inside(run.path, "arriving")
    with writing(folder):
        shutil.rmtree(folder, ignore_errors=True)
        make_folder(folder, PRIVATE)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unpacked(path: Path, trials: Sequence[Trial]) -> list[TrialFolder]:
    """Unpacks a parcel beside itself; gives the folders of these trials, each of which must be there.

    Raises `StoreError` for a parcel that is of something else. What an earlier attempt left there, as a full disk ended
    it, is removed before.
    """
    into = path.with_suffix(".trials")
    with writing(into):
        if into.exists():
            shutil.rmtree(into)
        make_folder(into, PRIVATE)
        try:
            with path.open("rb") as file:
                unpack(file.fileno(), into, UNPACKED_WITHIN_S, expected=_FILE)
        except Refused as refused:
            raise StoreError(path, f"what came from a test-bed is refused: {refused}") from refused
    names = {folder.name for folder in into.iterdir()}
    if strange := names ^ {trial.id for trial in trials}:
        raise StoreError(path, f"it is not of the trials that were handed out: {', '.join(sorted(strange))}")
    return [TrialFolder(folder_inside(into, trial.id)) for trial in trials]


def stored(
    run: RunFolder,
    arrived: Sequence[TrialFolder],
    trials: Sequence[Trial],
    testbed: str,
    cautions: tuple[Caution, ...],
) -> list[TrialRecord]:
    """Moves the trials of a block into the run; each counts from when its record is there, which comes last."""
    records = [folder.read_record_of(trial) for folder, trial in zip(arrived, trials, strict=True)]
    measured = [
        record.model_copy(update={"testbed": testbed, "warnings": (*record.warnings, *cautions)}) for record in records
    ]
    for folder, record in zip(arrived, measured, strict=True):
        target = run.trial(record.trial.id)
        target.clear()
        with writing(target.path):
            folder.record_path.unlink()
            shutil.rmtree(target.path)
            folder.path.rename(target.path)
        target.finish(record)
    return measured
