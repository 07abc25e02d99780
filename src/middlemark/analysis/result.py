"""What one stored trial came to, as far as deciding on further trials goes: its outcome and its values.

It is computed of the trial's folder alone, so that whoever goes on with a run decides as its first campaign would have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from middlemark.analysis.accounting import AccountingError
from middlemark.analysis.measuring import measured
from middlemark.analysis.metric_names import Key
from middlemark.analysis.overload import of_the_path
from middlemark.analysis.quantile import Partial, WithinClocks
from middlemark.plan import Trial
from middlemark.results.record import is_valid
from middlemark.results.run_folder import TrialFolder


@dataclass(frozen=True)
class Result:
    """One trial's outcome and values."""

    trial: Trial
    outcome: str
    """Its kind."""
    detail: str = ""
    values: Mapping[Key, float] = field(default_factory=dict)
    """Without what it has too few samples for, and without the latency of an overloaded stream."""
    refused: Mapping[Key, str] = field(default_factory=dict)
    """What clocks of different machines don't tell, and what not all messages left a sample of, with the reason."""


def result(folder: TrialFolder) -> Result:
    """Read what a stored trial came to; accounting that does not add up leaves it without values."""
    record = folder.read_record()
    if not is_valid(record):
        return Result(record.trial, record.outcome.kind, record.outcome.detail)
    try:
        metrics = measured(folder, record).metrics
    except AccountingError as error:
        return Result(record.trial, "invalid", str(error))
    refused = {key: str(value) for key, value in metrics.values.items() if isinstance(value, WithinClocks | Partial)}
    return Result(record.trial, "valid", values=of_the_path(metrics), refused=refused)
