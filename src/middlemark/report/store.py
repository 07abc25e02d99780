"""Puts the metrics and the estimates of a run into its folder; `results` writes them whole or not at all."""

from __future__ import annotations

from pathlib import Path

from middlemark.analysis.accounting import AccountingError
from middlemark.analysis.measuring import measure
from middlemark.analysis.run import RunFindings
from middlemark.analysis.stored import stored_form
from middlemark.analysis.summary import summary_table
from middlemark.errors import StoreError
from middlemark.results import writer
from middlemark.results.files import write_with
from middlemark.results.record import is_valid
from middlemark.results.run_folder import RunFolder


def recompute_metrics(folder: RunFolder) -> None:
    """Compute the metrics of every valid trial from its samples again and store them; a damaged one is left alone."""
    with writer.reopened(folder):
        folder.read_manifest()
        for trial in folder.stored_trials():
            try:
                record = trial.read_record()
                found = stored_form(measure(trial, record)) if is_valid(record) else None
            except (StoreError, AccountingError):
                continue  # who analyses the run names it
            if found is not None:
                writer.keep_metrics(trial, *found)


def write_summary(findings: RunFindings) -> Path:
    """Write `summary.parquet`."""
    return write_with(findings.folder.summary_path, summary_table(findings).write_parquet)
