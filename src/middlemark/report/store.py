"""Puts onto disk what `report` and `analysis` made: estimates of a run, and texts for others; whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from middlemark.analysis.run import RunFindings
from middlemark.analysis.summary import summary_table
from middlemark.errors import StoreError


def write_summary(findings: RunFindings) -> Path:
    """Write `summary.parquet`."""
    path = findings.folder.summary_path
    partial = path.with_suffix(".partial")
    try:
        summary_table(findings).write_parquet(partial)
        partial.replace(path)
    except OSError as error:
        raise StoreError(path, f"the estimates can't be written: {error.strerror}") from error
    return path


def write_text(path: Path, text: str) -> Path:
    """Write a text that a user asked for, with the folder it belongs into; whole or not at all."""
    return write_bytes(path, lambda partial: partial.write_text(text, encoding="utf-8"))


def write_bytes(path: Path, write: Callable[[Path], object]) -> Path:
    """The same of whatever `write` puts into the file that it is given."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(partial)
        partial.replace(path)
    except OSError as error:
        raise StoreError(path, f"it can't be written: {error.strerror}", "choose another place for it") from error
    return path
