"""The rows of an `.npy` file are those of its schema, or the file is refused, whatever its bytes are."""

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from middlemark.errors import StoreError
from middlemark.results.recorded_rows import recorded_rows

SCHEMA = pl.Schema({"at_ns": pl.Int64(), "cpu": pl.UInt16()})
KIND = np.dtype([("at_ns", "<i8"), ("cpu", "<u2")])


def file_of(rows: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, rows)
    return out.getvalue()


GOOD = file_of(np.zeros(5, KIND))


def test_rows_are_read_with_the_columns_of_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    path.write_bytes(file_of(np.array([(7, 1), (8, 2)], KIND)))
    assert pl.concat(recorded_rows(path, SCHEMA)).equals(pl.DataFrame({"at_ns": [7, 8], "cpu": [1, 2]}, schema=SCHEMA))


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((2, 2), KIND),
        np.zeros(2, np.dtype([("at_ns", ">i8"), ("cpu", "<u2")])),
        np.zeros(2, np.dtype([("at_ns", "<i8", 3), ("cpu", "<u2")])),
        np.zeros(2, np.dtype([("at_ns", "<i8")])),
        np.zeros(2, np.dtype([("at_ns", "<i8"), ("cpu", "<u2"), ("more", "V4000")])),
        np.zeros(2),
    ],
    ids=["two dimensions", "other byte order", "an array in a column", "a column less", "long rows", "no columns"],
)
def test_a_table_of_another_form_is_refused(tmp_path: Path, rows: np.ndarray) -> None:
    path = tmp_path / "rows.npy"
    path.write_bytes(file_of(rows))
    with pytest.raises(StoreError, match=r"columns|rows"):
        list(recorded_rows(path, SCHEMA))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=400)
    | st.builds(
        lambda at, by, end: (GOOD[:at] + by + GOOD[at + len(by) :])[:end],
        st.integers(0, len(GOOD)),
        st.binary(min_size=1, max_size=12),
        st.integers(0, len(GOOD) + 12),
    )
)
def test_whatever_bytes_a_file_has_it_is_read_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.npy"
    path.write_bytes(content)
    try:
        frames = list(recorded_rows(path, SCHEMA))
    except StoreError:
        return
    assert all(frame.schema == SCHEMA for frame in frames)
    assert sum(len(frame) for frame in frames) * KIND.itemsize <= len(content)
