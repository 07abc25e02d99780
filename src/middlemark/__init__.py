"""Middlemark: a dynamometer for communication middleware."""

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from middlemark.analysis.dataframes import LoadedRun

__all__ = ["__version__", "load"]

__version__ = version("middlemark")


def load(run: str | Path, *, trust: bool = False) -> "LoadedRun":
    """Open a run folder for computing with it: data frames of its trials, metrics, estimates and samples.

    Raises `middlemark.errors.StoreError` where the folder is no run; what is damaged within it is named in `damaged`.
    A folder of another user is refused unless it is said to be one to `trust`.
    """
    from middlemark.analysis.dataframes import load as opened  # noqa: PLC0415 - every part imports this package first

    return opened(Path(run), trust=trust)
