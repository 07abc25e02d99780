"""The samples that the applications of a trial left, as the two data frames that are stored.

It reads the `.npy` files of the worker contract and joins them, each row with its application; `analysis` says what the
columns are, `store` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from middlemark.analysis.columns import (
    EXECUTIONS_SCHEMA,
    INPUTS_SCHEMA,
    OUTPUTS_SCHEMA,
    PUBLISHED_SCHEMA,
    RECEIVED_SCHEMA,
)

_TRIGGERS = {0: "message", 1: "timer", 2: "source"}


def received(folders: Mapping[str, Path]) -> pl.DataFrame:
    """What the subscribers recorded, and the clients of ping-pongs; `folders` by application."""
    return _joined(folders, "received", RECEIVED_SCHEMA)


def published(folders: Mapping[str, Path]) -> pl.DataFrame:
    """What the publishers recorded; `folders` by application."""
    return _joined(folders, "published", PUBLISHED_SCHEMA)


def executions(folders: Mapping[str, Path]) -> pl.DataFrame:
    """What the nodes did; `folders` by application."""
    coded = pl.Schema({**EXECUTIONS_SCHEMA, "trigger": pl.UInt8()})
    frame = _joined(folders, "executions", coded)
    return frame.with_columns(pl.col("trigger").replace_strict(_TRIGGERS, return_dtype=pl.String()))


def inputs(folders: Mapping[str, Path]) -> pl.DataFrame:
    """What the nodes took; `folders` by application."""
    return _joined(folders, "inputs", INPUTS_SCHEMA)


def outputs(folders: Mapping[str, Path]) -> pl.DataFrame:
    """What the nodes sent; `folders` by application."""
    return _joined(folders, "outputs", OUTPUTS_SCHEMA)


def histograms(folders: Iterable[Path]) -> list[Path]:
    """The logs of latencies beyond the sample memory."""
    return sorted(file for folder in folders for file in folder.glob("*.beyond.hlog"))


def _joined(folders: Mapping[str, Path], kind: str, schema: pl.Schema) -> pl.DataFrame:
    frames = [
        _frame(path, application, schema)
        for application, folder in folders.items()
        for path in [folder / f"{application}.{kind}.npy"]
        if path.exists()
    ]
    return pl.concat([pl.DataFrame(schema=schema), *frames])


def _frame(path: Path, application: str, schema: pl.Schema) -> pl.DataFrame:
    records = np.load(path, mmap_mode="r", allow_pickle=False)
    columns = {name: np.ascontiguousarray(records[name]) for name in records.dtype.names}
    frame = pl.DataFrame(columns).with_columns(pl.lit(application).alias("application"))
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())
