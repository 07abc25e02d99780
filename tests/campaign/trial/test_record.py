"""What applications recorded becomes one table, read a piece at a time, each row with its application."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from middlemark.campaign.trial import record as trial_record
from middlemark.results.tables import PUBLISHED_SCHEMA
from middlemark.results.trial_folder import TrialFolder

ROW = np.dtype(
    [
        ("sequence", "u4"),
        ("stream", "u2"),
        ("publisher", "u2"),
        ("intended_ns", "i8"),
        ("sent_ns", "i8"),
        ("returned_ns", "i8"),
        ("fill_ns", "i8"),
        ("accepted", "u1"),
    ]
)


def record(folder: Path, application: str, messages: int) -> None:
    rows = np.zeros(messages, ROW)
    rows["sequence"] = np.arange(messages)
    rows["sent_ns"] = 1000 * np.arange(messages)
    np.save(folder / f"{application}.published.npy", rows)


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.LazyFrame:
    monkeypatch.setattr(trial_record, "CHUNK_ROWS", 4)
    for application, messages in {"drivers": 10, "idle": 0, "control": 3}.items():
        record(tmp_path, application, messages)
    return trial_record.published(dict.fromkeys(("drivers", "idle", "control", "silent"), tmp_path))


def test_rows_of_all_applications_are_joined_in_their_order(recorded: pl.LazyFrame) -> None:
    table = recorded.collect()
    assert table.schema == PUBLISHED_SCHEMA
    assert table["application"].to_list() == ["drivers"] * 10 + ["control"] * 3
    assert table["sequence"].to_list() == [*range(10), *range(3)]
    assert table["sent_ns"].to_list() == [1000 * number for number in (*range(10), *range(3))]


def test_a_query_gets_the_rows_and_columns_that_it_asks_for(recorded: pl.LazyFrame) -> None:
    assert recorded.filter(pl.col("sent_ns") > 7000).select("sequence").collect().to_series().to_list() == [8, 9]
    assert recorded.head(6).select(pl.len()).collect().item() == 6
    assert recorded.head(6).filter(pl.col("sequence") > 3).collect()["sequence"].to_list() == [4, 5]


def test_they_are_stored_as_they_were_recorded(recorded: pl.LazyFrame, tmp_path: Path) -> None:
    folder = TrialFolder(tmp_path / "trial")
    folder.write_samples(trial_record.received({}), recorded)
    assert folder.read_published().equals(recorded.collect())
    assert folder.read_received().is_empty()
