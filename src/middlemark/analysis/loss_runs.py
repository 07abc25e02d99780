"""How many messages in a row a flow lost: the same share of loss hurts more in one piece.

A loss run is RFC 3357's loss period: consecutive sequence numbers that were sent and did not come in time. Where not
every message left a sample, runs can't be told and there are none to give. Shares of loss are `metrics`'.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from middlemark.analysis.accounting import Flow
from middlemark.analysis.quantile import Measured
from middlemark.results.streaming import Frame, count, numbered


def loss_runs(flows: Sequence[Flow], received: Frame, published: Frame) -> NDArray[np.int64] | None:
    """The lengths of all runs of one stream, in messages; `received` holds what came in time, answers apart."""
    messages = [flow for flow in flows if not flow.answers]
    found = []
    for flow in messages:
        sent = published.filter((pl.col("publisher") == flow.publisher) & (pl.col("accepted") == 1))
        if count(sent) != flow.sent or flow.beyond_samples:
            return None
        own = received.filter((pl.col("publisher") == flow.publisher) & (pl.col("subscriber") == flow.subscriber))
        found.append(runs(numbered(sent), numbered(own)))
    return np.concatenate(found) if found else None


def runs(sent: NDArray[np.bool_], received: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The lengths of the runs of sent messages that were not received, in their order; both by sequence number."""
    came = np.zeros(len(sent), dtype=np.bool_)
    came[: len(received)] = received[: len(sent)]
    lost = ~came[sent]
    edges = np.diff(np.concatenate([[False], lost, [False]]).view(np.int8))
    return np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)


def run_figures(found: NDArray[np.int64], n_messages: int) -> dict[str, Measured]:
    """The longest run, nought without loss, and the mean run where there is one."""
    if not len(found):
        return {"longest_loss_run_messages": Measured(0.0, n_messages)}
    return {
        "longest_loss_run_messages": Measured(float(found.max()), n_messages),
        "mean_loss_run_messages": Measured(float(found.mean()), n_messages),
    }
