"""Tables are written whole, and what polars says of a failed write is told as of any other file."""

from pathlib import Path

import polars as pl
import pytest

from middlemark.errors import StoreError
from middlemark.results.tables import read_table, write_parquet, write_table

SCHEMA = pl.Schema({"n": pl.Int64()})


def test_a_table_that_polars_can_not_write_leaves_the_old_one_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_table(path, pl.DataFrame({"n": [1]}, schema=SCHEMA), SCHEMA)

    def refused(_partial: Path) -> None:
        raise pl.exceptions.ComputeError("it is no row")

    with pytest.raises(StoreError, match="it can't be written: it is no row"):
        write_parquet(path, refused)
    assert [file.name for file in tmp_path.iterdir()] == ["rows.parquet"]
    assert read_table(path, SCHEMA)["n"].to_list() == [1]
