"""From a stored trial's samples to all its metrics: those of its streams, and those of its nodes and chains.

It reads the trial's folder and leaves the computing to `metrics` and `chain_metrics`; what observers saw is `run`'s.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from middlemark.analysis.chain import Rows
from middlemark.analysis.chain_metrics import chain_metrics
from middlemark.analysis.metrics import TrialMetrics, stream_shapes, trial_metrics
from middlemark.analysis.record import TrialRecord
from middlemark.analysis.run_folder import TrialFolder


def stored_metrics(folder: TrialFolder, record: TrialRecord, received: pl.DataFrame) -> TrialMetrics:
    """All of a trial that was measured; accounting that does not add up is an error."""
    shapes = stream_shapes(record.trial.experiment)
    metrics = trial_metrics(record, received, folder.read_published(), shapes, folder.read_beyond())
    if not record.nodes or record.window is None:
        return metrics
    nodes = folder.read_executions(), folder.read_inputs(), folder.read_outputs()
    found = chain_metrics(record, Rows(*nodes, received, record.window.end_ns))
    return replace(
        metrics,
        values={**metrics.values, **found.values},
        samples={**metrics.samples, **found.samples},
        bounds_ns={**metrics.bounds_ns, **found.bounds_ns},
    )
