"""Puts the estimates of a run into its folder as `summary.parquet`, whole or not at all."""

from __future__ import annotations

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
