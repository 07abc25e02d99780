"""Which experiments a claim's selection picks: those that have all of its values.

The spelling of spaces does not matter; what picks nothing is refused where the suite is ordered, not here.
"""

from __future__ import annotations

from middlemark.plan.experiment import Experiment
from middlemark.suite import NOT_SET, Selection
from middlemark.suite.claim import STREAM


def is_selected(experiment: Experiment, selection: Selection) -> bool:
    """Whether an experiment has all values of a selection."""
    return all(_has(experiment, name, value) for name, value in selection.factors)


def _has(experiment: Experiment, name: str, value: str) -> bool:
    if name == STREAM:
        return any(stream.name == value for stream in experiment.streams)
    return _unspaced(experiment.factors.get(name, NOT_SET)) == _unspaced(value)


def _unspaced(value: str) -> str:
    return value.replace(" ", "")
