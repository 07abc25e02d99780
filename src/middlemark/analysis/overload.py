"""What an overload makes of a trial's figures: where publishers could not keep their rate, latency is that of a queue.

That they could not, `rates` found; which trials count for what, `over_trials` decides by it. What never arrived is
infinite here, so that whoever compares trials by these numbers sees it.
"""

from __future__ import annotations

import math

from middlemark.analysis.metric_names import Key, metrics_of, of_stream
from middlemark.analysis.metrics import TrialMetrics
from middlemark.analysis.quantile import Lost, Measured
from middlemark.analysis.samples import Distribution

OF_THE_PATH = (
    Distribution.LATENCY_FROM_SEND,
    Distribution.LATENCY_FROM_INTENDED,
    Distribution.ROUND_TRIP,
    Distribution.JITTER,
)
"""The distributions that an overload turns into those of a queue."""


def of_the_path(metrics: TrialMetrics) -> dict[Key, float]:
    """The values of a trial, without those that an overload made the queue's; infinite where messages were lost."""
    queues = _of_a_queue(metrics)
    return {
        key: math.inf if isinstance(value, Lost) else value.value
        for key, value in metrics.values.items()
        if isinstance(value, Measured | Lost) and key not in queues
    }


def _of_a_queue(metrics: TrialMetrics) -> set[Key]:
    """The metrics that an overload turned into those of a queue."""
    return {
        Key(of_stream(stream), metric)
        for stream in metrics.overloaded
        for kind in OF_THE_PATH
        for metric in metrics_of(kind)
    }
