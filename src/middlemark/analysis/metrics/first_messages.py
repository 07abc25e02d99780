"""The time to first message and its parts: initialised, matched, first message, first of full size.

A trial has come as far when the last of its applications, publishers or paths has; answers are left out.
"""

from __future__ import annotations

from middlemark.analysis.stats.quantiles import Measured, Value, with_clock_bound
from middlemark.results.record import TrialRecord
from middlemark.suite.metrics import TRIAL, Key


def first_message_values(record: TrialRecord) -> dict[Key, Value]:
    """The last of each part; it is from the common start by this machine's clock to a host's of an application."""
    publishers_of = {stream.name: stream.publishers for stream in record.trial.experiment.streams}
    subscribers_of = {stream.name: stream.subscribers for stream in record.trial.experiment.streams}
    messages = [
        (message, subscribers_of[message.stream][message.subscriber])
        for message in record.first_message
        if not message.answers
    ]
    parts = {
        "initialised_ns": [(after_ns, name) for name, after_ns in record.initialised_after_ns.items()],
        "matched_ns": [
            (match.after_ns, publishers_of[match.stream][match.publisher])
            for match in record.matched
            if not match.answers
        ],
        "first_message_ns": [(message.after_ns, name) for message, name in messages],
        "first_full_message_ns": [
            (message.full_after_ns, name) for message, name in messages if message.full_after_ns is not None
        ],
    }
    return {
        Key(TRIAL, metric): with_clock_bound(
            Measured(float(after_ns), len(instants)), record.clock_bound_at_ns(application)
        )
        for metric, instants in parts.items()
        if instants
        for after_ns, application in [max(instants)]
    }
