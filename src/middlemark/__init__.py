"""Middlemark: a dynamometer for communication middleware."""

from pathlib import Path
from typing import TYPE_CHECKING

from middlemark.installation import VERSION

if TYPE_CHECKING:
    from middlemark.analysis.dataframes import LoadedRun

__all__ = ["__version__", "load"]

__version__ = VERSION


def load(run: str | Path, *, trust: bool = False) -> "LoadedRun":
    """Open a run folder for computing with it: data frames of its trials, metrics, estimates and samples.

    Raises `middlemark.errors.StoreError` where the folder is no run; what is damaged within it is named in `damaged`.
    A folder of another user is refused unless it is said to be one to `trust`.
    """
    from middlemark.analysis.dataframes import load as opened  # noqa: PLC0415 - programs need no data frames to begin

    return opened(Path(run), trust=trust)
