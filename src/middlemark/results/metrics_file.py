"""The metrics of a trial on disk: `metrics.json`, and the values of its distributions in `sketches.parquet`.

Both are written once, when the trial ends, with the version of what computed them; of another version they are not
read. What they hold `analysis.metrics.stored` says and checks; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np
import polars as pl
import pydantic_core
from numpy.typing import NDArray
from pydantic import BaseModel

from middlemark.errors import StoreError
from middlemark.results.files import is_there, read_bytes
from middlemark.results.tables import SKETCHES_SCHEMA, UNREADABLE
from middlemark.results.trial_folder import TrialFolder

M = TypeVar("M", bound=BaseModel)
MOST_METRICS_BYTES: Final = 1 << 26
MOST_SKETCH_VALUES: Final = 1 << 24
"""Of all distributions of a trial: of a hundred streams with six each."""
MOST_SKETCH_BYTES: Final = 1 << 29
"""As many values in a Parquet file, hardly compressed."""
SketchPoints = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Ascending values, and the number of messages that each represents."""
REMEDY = "compute it again: middlemark report --recompute"


def read_metrics(folder: TrialFolder, model: type[M], computed_by: int) -> M | None:
    """What was stored of a trial by this version of what computes it; None where that is not there."""
    path = folder.metrics_path
    if not is_there(path):
        return None
    content = read_bytes(path, MOST_METRICS_BYTES)
    try:
        document = pydantic_core.from_json(content, allow_inf_nan=False)
        if isinstance(document, dict) and document.get("computed_by") != computed_by:
            return None
        return model.model_validate(document)
    except ValueError as cause:  # pydantic's own is one
        raise StoreError(path, "it can't be read", REMEDY) from cause


def read_sketches(folder: TrialFolder, lengths: Sequence[int]) -> list[SketchPoints]:
    """The values of each distribution, of which there must be so many."""
    path, total = folder.sketches_path, sum(lengths)
    if not total:
        nothing = np.empty(0, dtype=np.int64)
        return [(nothing, nothing)] * len(lengths)
    if total > MOST_SKETCH_VALUES:
        raise StoreError(path, f"{total} values of distributions, and at most {MOST_SKETCH_VALUES} are read", REMEDY)
    try:
        table = pl.read_parquet(read_bytes(path, MOST_SKETCH_BYTES), n_rows=total + 1, glob=False)
    except UNREADABLE as cause:
        raise StoreError(path, "it can't be read", REMEDY) from cause
    if table.schema != SKETCHES_SCHEMA or any(column.null_count() for column in table):
        raise StoreError(path, f"its columns are {dict(table.schema)}, not {dict(SKETCHES_SCHEMA)}", REMEDY)
    sketch, step_ns, count = (table[name].to_numpy() for name in SKETCHES_SCHEMA)
    if not np.array_equal(sketch, np.repeat(np.arange(len(lengths)), lengths)):
        raise StoreError(path, f"its distributions are not those of {folder.metrics_path.name}", REMEDY)
    ends = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    return [(np.cumsum(step_ns[begin:end]), count[begin:end]) for begin, end in pairwise(ends)]


def sketches_table(sketches: Sequence[SketchPoints]) -> pl.DataFrame:
    """The values of distributions as they are stored."""
    none = [np.empty(0, dtype=np.int64)]
    columns = {
        "sketch": np.repeat(np.arange(len(sketches), dtype=np.uint16), [len(values) for values, _ in sketches]),
        "step_ns": np.concatenate(none + [np.diff(values, prepend=0) for values, _ in sketches]),
        "count": np.concatenate(none + [counts for _, counts in sketches]),
    }
    return pl.DataFrame(columns, schema=SKETCHES_SCHEMA)
