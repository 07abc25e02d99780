"""By which transport a trial's processes sent, as the kernel saw it: the share of their send calls that were TCP's.

It counts calls on network sockets alone, those of discovery too; `breakdown` says what a message's time is spent on.
"""

from __future__ import annotations

import polars as pl

from middlemark.analysis.kernel.events import Kind
from middlemark.analysis.stats.quantiles import Measured, Value
from middlemark.results.record import TrialRecord
from middlemark.suite.metrics import TRIAL, Key

TCP, UDP = 6, 17
"""As IP numbers them."""


def transport_values(record: TrialRecord, events: pl.DataFrame) -> dict[Key, Value]:
    """Of all applications and services within the window; nothing where none sent through the network."""
    if record.kernel_path is None or record.window is None:
        return {}
    sent = events.filter(
        (pl.col("kind") == Kind.SENT)
        & pl.col("mark").is_in([TCP, UDP])
        & pl.col("process").is_in(list(record.kernel_path.processes.values()))
        & pl.col("at_ns").is_between(record.window.begin_ns, record.window.end_ns)
    )
    if not len(sent):
        return {}
    by_tcp = sent.filter(pl.col("mark") == TCP)
    return {Key(TRIAL, "tcp_share"): Measured(len(by_tcp) / len(sent), len(sent))}
