"""From a stored trial's samples to all its metrics: those of its streams, and those of its nodes and chains.

It reads the trial's folder and leaves the computing to `metrics` and `chain_metrics`; what observers saw is `run`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from middlemark.analysis.chain import Rows
from middlemark.analysis.chain_metrics import chain_metrics
from middlemark.analysis.condensed import Condensed, condensed
from middlemark.analysis.metrics import TrialMetrics, trial_metrics
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import Recorded, TrialFolder
from middlemark.results.streaming import lazy


def stored_metrics(
    folder: TrialFolder,
    record: TrialRecord,
    samples: Recorded,
    condense: Callable[[Condensed], Condensed] = condensed,
) -> TrialMetrics:
    """All of a trial that was measured; accounting that does not add up is an error."""
    metrics = trial_metrics(record, samples.received, samples.published, folder.read_beyond(), condense)
    if not record.nodes or record.window is None:
        return metrics
    rows = Rows(*folder.scan_nodes(), lazy(samples.received), record.window.end_ns)
    found = chain_metrics(record, rows, condense)
    return replace(metrics, values={**metrics.values, **found.values}, samples={**metrics.samples, **found.samples})
