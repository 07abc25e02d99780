"""A trial's metrics: as they were stored at its end, or else from its samples, its nodes and what its observer saw.

It reads the trial's folder and leaves the computing to `metrics`, `chain_metrics` and their neighbours; `stored` has
the form in which metrics are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from middlemark.analysis.chain import Rows
from middlemark.analysis.chain_metrics import chain_metrics
from middlemark.analysis.condensed import Condensed, condensed
from middlemark.analysis.course import courses, settlings
from middlemark.analysis.experiment import MeasuredTrial
from middlemark.analysis.metrics import TrialMetrics, trial_metrics
from middlemark.analysis.path_shares import PathFindings, path_findings
from middlemark.analysis.resources import memory_courses, resource_values
from middlemark.analysis.stored import stored
from middlemark.analysis.wire import wire_values
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import Recorded, TrialFolder
from middlemark.results.streaming import lazy


def measured(folder: TrialFolder, record: TrialRecord) -> MeasuredTrial:
    """The metrics of a valid trial; raises where its files can't be read or contradict each other."""
    found = stored(folder, record)
    return measure(folder, record) if found is None else found


def measure(folder: TrialFolder, record: TrialRecord) -> MeasuredTrial:
    """The same from its samples, whatever is stored of them."""
    with folder.reading_samples() as samples:
        found = MeasuredTrial(
            record,
            metrics_of_samples(folder, record, samples),
            courses(record, samples.received),
            settling=settlings(record, samples.received),
        )
    return found if record.trial.observation is None else _with_observed(found, folder)


def metrics_of_samples(
    folder: TrialFolder,
    record: TrialRecord,
    samples: Recorded,
    condense: Callable[[Condensed], Condensed] = condensed,
) -> TrialMetrics:
    """All of a trial but what its observer saw; accounting that does not add up is an error."""
    metrics = trial_metrics(record, samples.received, samples.published, folder.read_beyond(), condense)
    if not record.nodes or record.window is None:
        return metrics
    rows = Rows(*folder.scan_nodes(), lazy(samples.received), record.window.end_ns)
    found = chain_metrics(record, rows, condense)
    return replace(metrics, values={**metrics.values, **found.values}, samples={**metrics.samples, **found.samples})


def _with_observed(found: MeasuredTrial, folder: TrialFolder) -> MeasuredTrial:
    """With what the trial's observer saw."""
    record = found.record
    processes, machine = folder.read_processes(), folder.read_machine()
    path = PathFindings({}, {})
    if record.kernel_path is not None:
        path = path_findings(record, folder.read_kernel_events(), folder.read_received())
    seen = {
        **resource_values(record, processes, machine),
        **wire_values(record),
        **path.values,
    }
    metrics = replace(found.metrics, values={**found.metrics.values, **seen})
    return replace(found, metrics=metrics, memory=memory_courses(record, processes), messages=path.messages)
