"""What an overload makes of a trial's figures: where publishers could not keep their rate, latency is that of a queue.

That they could not, `metrics` found; which trials count for what, `experiment` decides by it.
"""

from __future__ import annotations

from middlemark.analysis.metric_names import Key, metrics_of, of_stream
from middlemark.analysis.metrics import TrialMetrics
from middlemark.analysis.quantile import Measured
from middlemark.analysis.samples import Distribution

OF_THE_PATH = (
    Distribution.LATENCY_FROM_SEND,
    Distribution.LATENCY_FROM_INTENDED,
    Distribution.ROUND_TRIP,
    Distribution.JITTER,
)
"""The distributions that an overload turns into those of a queue."""


def of_the_path(metrics: TrialMetrics) -> dict[Key, float]:
    """The values of a trial, without those that an overload made the queue's."""
    queues = _of_a_queue(metrics)
    return {
        key: value.value for key, value in metrics.values.items() if isinstance(value, Measured) and key not in queues
    }


def _of_a_queue(metrics: TrialMetrics) -> set[Key]:
    """The metrics that an overload turned into those of a queue."""
    return {
        Key(of_stream(stream), metric)
        for stream in metrics.overloaded
        for kind in OF_THE_PATH
        for metric in metrics_of(kind)
    }
