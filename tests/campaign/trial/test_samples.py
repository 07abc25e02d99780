"""What applications recorded becomes one table, each row with its application; what can't be read ends no campaign."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from middlemark.campaign.trial import samples
from middlemark.plan import Failed
from middlemark.results import streaming
from middlemark.results.record import TrialRecord
from middlemark.results.tables import PUBLISHED_SCHEMA
from middlemark.results.trial_folder import TrialFolder
from staged import planned, suite_text

Campaign = Callable[..., list[TrialRecord]]
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
    monkeypatch.setattr(streaming, "CHUNK_ROWS", 4)
    for application, messages in {"drivers": 10, "idle": 0, "control": 3}.items():
        record(tmp_path, application, messages)
    return samples.published(dict.fromkeys(("drivers", "idle", "control", "silent"), tmp_path), ())


def test_rows_of_all_applications_are_joined_in_their_order(recorded: pl.LazyFrame) -> None:
    table = recorded.collect()
    assert table.schema == PUBLISHED_SCHEMA
    assert table["application"].to_list() == ["drivers"] * 10 + ["control"] * 3
    assert table["sequence"].to_list() == [*range(10), *range(3)]
    assert table["sent_ns"].to_list() == [1000 * number for number in (*range(10), *range(3))]
    assert table["serialise_ns"].null_count() == len(table), "a worker that doesn't serialise need not say so"


def test_a_query_gets_the_rows_and_columns_that_it_asks_for(recorded: pl.LazyFrame) -> None:
    assert recorded.filter(pl.col("sent_ns") > 7000).select("sequence").collect().to_series().to_list() == [8, 9]
    assert recorded.head(6).select(pl.len()).collect().item() == 6
    assert recorded.head(6).filter(pl.col("sequence") > 3).collect()["sequence"].to_list() == [4, 5]


def test_they_are_stored_as_they_were_recorded(recorded: pl.LazyFrame, tmp_path: Path) -> None:
    folder = TrialFolder(tmp_path / "trial")
    folder.write_samples(samples.received({}, ()), recorded)
    assert folder.read_published().equals(recorded.collect())
    assert folder.read_received().is_empty()


def test_topics_that_are_streams_to_a_worker_are_one_stream_of_the_plan(tmp_path: Path) -> None:
    rows = np.zeros(3, ROW)
    rows["stream"] = [2, 0, 2]
    np.save(tmp_path / "sender.published.npy", rows)
    streams = planned("workloads: [{workload: imu, topics: 3}]").experiment.streams
    table = samples.published({"sender": tmp_path}, streams).collect()
    assert table.schema == PUBLISHED_SCHEMA
    assert (table["stream"].to_list(), table["publisher"].to_list()) == ([0, 0, 0], [2, 0, 2])


STORING = """
import resource, sys
from pathlib import Path
from middlemark.campaign.trial import samples
from middlemark.results.trial_folder import TrialFolder
for name in sys.argv[2:]:
    folder = Path(sys.argv[1], name)
    TrialFolder(folder / "trial").write_samples(samples.received({}, ()), samples.published({"drivers": folder}, ()))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10)
"""


def test_many_samples_are_stored_in_the_memory_of_few(tmp_path: Path) -> None:
    """The first file warms up; what the much larger one takes beyond it is a small part of that file."""
    for name, messages in {"few": 1 << 20, "many": 1 << 23}.items():
        (tmp_path / name).mkdir()
        record(tmp_path / name, "drivers", messages)
    command = (sys.executable, "-c", STORING, str(tmp_path), "few", "many")
    with_few, with_many = map(int, subprocess.run(command, capture_output=True, check=True).stdout.split())
    assert with_many - with_few < 0.5 * (tmp_path / "many" / "drivers.published.npy").stat().st_size


@pytest.mark.parametrize("how", ["empty", "cut", "negative", "huge", "pipe", "link", "objects", "other"])
def test_broken_samples_are_a_failure_of_who_left_them(campaign: Campaign, how: str) -> None:
    (record,) = campaign(suite_text(fault=f"samples_{how}", faulty="subscriber_0"))
    assert isinstance(record.outcome, Failed)
    assert (record.outcome.application, record.outcome.doing) == ("subscriber_0", "storing")
    assert "subscriber_0.received.npy" in record.outcome.causes[0]


@pytest.mark.parametrize("how", ["junk", "pipe", "link"])
def test_a_broken_log_of_histograms_is_a_failure_of_who_left_it(campaign: Campaign, how: str) -> None:
    (record,) = campaign(suite_text(fault=f"log_{how}", faulty="subscriber_0"))
    assert isinstance(record.outcome, Failed)
    assert (record.outcome.application, record.outcome.doing) == ("subscriber_0", "storing")
    assert "subscriber_0.beyond.hlog" in record.outcome.causes[0]


def test_samples_of_another_trial_are_a_failure_or_no_reason_to_count(campaign: Campaign) -> None:
    (record,) = campaign(suite_text(fault="samples_far", faulty="subscriber_0"))
    assert record.outcome.kind in {"failed", "invalid"}
