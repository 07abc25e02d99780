"""Puts the estimates of a run into its folder; `results.files` writes them whole or not at all."""

from __future__ import annotations

from pathlib import Path

from middlemark.analysis.run import RunFindings
from middlemark.analysis.summary import summary_table
from middlemark.results.files import write_with


def write_summary(findings: RunFindings) -> Path:
    """Write `summary.parquet`."""
    return write_with(findings.folder.summary_path, summary_table(findings).write_parquet)
