"""Tables are written whole, and what polars says of a failed write is told as of any other file."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from middlemark.errors import StoreError
from middlemark.results.tables import read_table, read_tables, write_parquet, write_table

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


def test_several_tables_are_read_as_one_and_each_row_says_of_which(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.parquet" for name in ("odd [1-2]*", "two", "none")]
    for path, values in zip(paths, ([1, 2], [3], []), strict=True):
        write_table(path, pl.DataFrame({"n": values}, schema=SCHEMA), SCHEMA)
    rows = read_tables(paths, SCHEMA, lambda all_rows: all_rows.filter(pl.col("n") > 1))
    assert rows is not None
    assert sorted(rows.select("path", "n").rows()) == [(str(paths[0]), 2), (str(paths[1]), 3)]


def _of_another_type(path: Path) -> None:
    pl.DataFrame({"n": ["1"]}).write_parquet(path)


def _with_another_column(path: Path) -> None:
    pl.DataFrame({"n": [1], "m": [1]}).write_parquet(path)


def _of_more_rows_than_bytes_can_hold(path: Path) -> None:
    pl.DataFrame({"n": [0]}).select(pl.repeat(0, 10_000_000, dtype=pl.Int64()).alias("n")).write_parquet(path)


def _linked(path: Path) -> None:
    write_table(path.with_name("elsewhere"), pl.DataFrame({"n": [1]}), SCHEMA)
    path.symlink_to(path.with_name("elsewhere"))


def _no_table(path: Path) -> None:
    path.write_bytes(b"no table")


@pytest.mark.parametrize(
    "spoil", [_of_another_type, _with_another_column, _of_more_rows_than_bytes_can_hold, _linked, _no_table]
)
def test_of_several_tables_none_is_read_where_one_is_no_such_table(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    write_table(good, pl.DataFrame({"n": [1]}, schema=SCHEMA), SCHEMA)
    spoil(bad)
    assert read_tables([good], SCHEMA, lambda rows: rows) is not None
    assert read_tables([good, bad], SCHEMA, lambda rows: rows) is None
    assert read_tables([bad], SCHEMA, lambda rows: rows) is None
