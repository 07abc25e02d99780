"""Samples a piece at a time say the same whether their rows are in memory or in a file, in little memory."""

import io
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.errors import StoreError
from middlemark.results import streaming, tables
from middlemark.results.streaming import (
    FLOW,
    Frame,
    by_sequence_number,
    highest_value,
    neighbour_differences,
    present_numbers,
    random_rows,
    recorded_rows,
    row_count,
    sorted_values,
    stored_rows,
)
from run_builder import build_run

ROWS = 1000
FIRST = 70_000
"""Sequence numbers don't begin at nought."""
LATENCY = pl.col("received_ns") - pl.col("sent_ns")
SUITE = """
suite: x
trials: 2
middlewares: all
workloads: [{workload: imu, windows: {window: 3 s}}, {workload: ping_pong, windows: {window: 1 s}}]
"""


@pytest.fixture(params=["rows", "file"])
def frame(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Frame:
    """Two flows, of which every seventh message is missing, in no order."""
    monkeypatch.setattr(streaming, "CHUNK_ROWS", 97)
    rng = np.random.default_rng(1)
    sequence = FIRST + np.delete(np.arange(ROWS), np.arange(0, ROWS, 7))
    flow = {"stream": 0, "answer": 0, "subscriber": 0}
    parts = [
        pl.DataFrame({"sequence": sequence, "sent_ns": 0, "received_ns": rng.integers(0, 10**6, len(sequence))})
        .with_columns(**{name: pl.lit(number, pl.UInt16) for name, number in (flow | {"publisher": publisher}).items()})
        .cast({"sequence": pl.UInt32})
        for publisher in (0, 1)
    ]
    rows = pl.concat(parts).sample(fraction=1, shuffle=True, seed=2)
    if request.param == "rows":
        return rows
    rows.write_parquet(tmp_path / "rows.parquet", row_group_size=300)
    return stored_rows(pl.scan_parquet(tmp_path / "rows.parquet"), len(rows))


def rows_of(frame: Frame) -> pl.DataFrame:
    return pl.concat(streaming.row_chunks(frame, pl.all()))


def test_a_piece_is_all_that_is_read_of_a_file_at_once(frame: Frame) -> None:
    found = list(streaming.row_chunks(frame, LATENCY))
    assert max(len(piece) for piece in found) == (len(frame) if isinstance(frame, pl.DataFrame) else 97)
    assert sum(len(piece) for piece in found) == row_count(frame)


def test_values_are_sorted_and_none_is_missing(frame: Frame) -> None:
    own = frame.filter(pl.col("publisher") == 1)
    assert sorted_values(own, LATENCY).tolist() == sorted(rows_of(own)["received_ns"].to_list())
    assert highest_value(own, "received_ns") == sorted_values(own, LATENCY)[-1]


def test_steps_are_those_between_neighbours_of_one_flow_only(frame: Frame) -> None:
    ordered = rows_of(frame).sort(*FLOW, "sequence")
    expected = ordered.select(
        step=pl.col("sequence").cast(pl.Int64).diff().over(FLOW), change=LATENCY.diff().over(FLOW).abs()
    ).filter(pl.col("step") == 1)
    assert neighbour_differences(by_sequence_number(frame, LATENCY)).tolist() == sorted(expected["change"].to_list())


def test_each_row_of_a_message_that_is_there_already_is_repeated(frame: Frame) -> None:
    assert by_sequence_number(frame).repeated == 0
    twice = by_sequence_number(pl.concat([rows_of(frame), rows_of(frame)[:5]]))
    assert twice.repeated == 5
    assert sum(twice.rows.values()) == row_count(frame) + 5


def test_the_numbers_of_a_flow_are_those_of_its_rows(frame: Frame) -> None:
    own = frame.filter(pl.col("publisher") == 1)
    assert np.flatnonzero(present_numbers(own)).tolist() == sorted(rows_of(own)["sequence"].to_list())


def test_what_is_drawn_is_all_where_it_is_few_and_else_the_same_each_time(frame: Frame) -> None:
    assert random_rows(frame, ROWS * 2, pl.col("sequence")).equals(rows_of(frame).select("sequence"))
    found = [random_rows(frame, ROWS // 2, pl.col("publisher"), pl.col("sequence")) for _ in range(2)]
    assert found[0].equals(found[1])
    assert len(found[0]) == pytest.approx(ROWS // 2, rel=0.05)
    assert found[0].n_unique() == len(found[0])


def test_nothing_has_no_values() -> None:
    nothing = pl.DataFrame(schema=dict.fromkeys(FLOW, pl.UInt16) | {"sequence": pl.UInt32, "sent_ns": pl.Int64})
    assert len(sorted_values(nothing, pl.col("sent_ns"))) == len(present_numbers(nothing)) == row_count(nothing) == 0
    assert (
        len(neighbour_differences(by_sequence_number(nothing, pl.col("sent_ns"))))
        == by_sequence_number(nothing).repeated
        == 0
    )
    assert highest_value(nothing, "sent_ns") is None


def test_a_trial_too_large_for_its_rows_to_be_in_memory_has_the_same_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = build_run(tmp_path / "run", SUITE, {"a": Behaviour(spread=0.4, loss=0.05)})
    at_once = analyse(run)
    monkeypatch.setattr(tables, "FEW_ROWS", 10)
    monkeypatch.setattr(streaming, "CHUNK_ROWS", 256)
    by_pieces = analyse(run)
    assert not by_pieces.damaged
    for one, other in zip(at_once.experiments, by_pieces.experiments, strict=True):
        assert one.estimates
        for name in ("estimates", "shapes", "accounting", "examples", "by_block", "cautions"):
            assert getattr(one, name) == getattr(other, name)


def test_no_more_than_one_distribution_is_in_memory_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "suite: x\ntrials: 1\nmiddlewares: all\nworkloads: {workload: imu, rate: 100 kHz, windows: {window: 4 s}}\n"
    run = build_run(tmp_path / "run", text, {"a": Behaviour()})
    monkeypatch.setattr(tables, "FEW_ROWS", 10)
    monkeypatch.setattr(streaming, "CHUNK_ROWS", 1 << 14)
    tracemalloc.start()  # NumPy's arrays, the pieces aside
    try:
        assert not analyse(run).damaged
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 400_000 * 1.9 * 8


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
